import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';

/**
 * How the answer about a row that is hidden differs from that about one that is not there; nothing where nobody could tell
 * them apart. What names the request itself, and what differs from answer to answer anyhow, is not looked at: `again` is a second answer
 * about the missing one, so that whatever differs between these two is known to.
 */
export function telltale(hidden: TrialExchange, missing: TrialExchange, again?: TrialExchange): string | undefined {
  if (hidden.status !== missing.status)
    return `${hidden.status} for the one that is hidden, ${missing.status} for one that is not there`;
  const names = [...new Set([...Object.keys(hidden.headers), ...Object.keys(missing.headers)])];
  const lacking = names.find(
    (name) => !varying.test(name) && (hidden.headers[name] === undefined) !== (missing.headers[name] === undefined),
  );
  if (lacking !== undefined) return `the header ${lacking} is there in one of the answers alone`;
  const bare = (exchange: TrialExchange) => bareMap(exchange.body ?? exchange.text, exchange);
  const varies = again ? unlike(bare(missing), bare(again)) : new Set<string>();
  const [one, other] = [hidden, missing].map((exchange) => JSON.stringify(without(bare(exchange), varies)));
  return one === other ? undefined : `${one} for the one that is hidden, ${other} for one that is not there`;
}

const varying =
  /^(?:date|age|etag|last-modified|content-length|set-cookie|server-timing|.*ratelimit.*|.*request.*id|.*trace.*|connection|keep-alive)$/;

/** A body without what names this very request. */
function bareMap(body: Json, { sent }: TrialExchange): Json {
  // The longest first: a shorter one may be a piece of it.
  const own = [...Object.values(sent.path).map(String), sent.target, sent.target.split('?')[0] ?? '']
    .filter((text) => text.length > 3)
    .sort((one, other) => other.length - one.length);
  const walk = (value: Json, key: string): Json => {
    if (/request|trace|instance|correlation|timestamp|time|date/i.test(key)) return null;
    if (typeof value === 'string')
      return own.reduce((text, part) => text.replaceAll(part, '…').replaceAll(decoded(part), '…'), value);
    if (Array.isArray(value)) return value.map((item: Json) => walk(item, key));
    if (!isMap(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item as Json, name)]));
  };
  return walk(body, '');
}

/** The places at which two bodies hold unlike values. */
function unlike(one: Json, other: Json, at = '', found = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
    for (const [index, item] of one.entries()) unlike(item as Json, other[index] as Json, below(at, index), found);
  else if (isMap(one) && isMap(other) && Object.keys(one).join() === Object.keys(other).join())
    for (const [name, item] of Object.entries(one)) unlike(item as Json, other[name] as Json, below(at, name), found);
  else if (JSON.stringify(one) !== JSON.stringify(other)) found.add(at);
  return found;
}

/** A body without what stands at some places. */
function without(body: Json, places: ReadonlySet<string>, at = ''): Json {
  if (places.has(at)) return null;
  if (Array.isArray(body)) return body.map((item: Json, index) => without(item, places, below(at, index)));
  if (!isMap(body)) return body;
  return Object.fromEntries(Object.entries(body).map(([name, item]) => [name, without(item as Json, places, below(at, name))]));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
