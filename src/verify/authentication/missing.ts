import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { readTemplate } from '../../kinds/generators/template.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Model } from '../model/model.ts';
import type { TrialExchange } from '../script/exchange.ts';
import { Fresh } from '../script/symbol.ts';

/** An identifier of a resource's own form that no row has; nothing where its form is not known. */
export function missingIdentifier(model: Model, resource: string): Fresh | undefined {
  const stated = model.resource(resource);
  const identifier = stated && statedValue(stated.identifier);
  if (!identifier?.generate) return undefined;
  if (identifier.generate === 'client') return model.freshValue(resource, identifier.field);
  if (identifier.generate === 'integer') return new Fresh(({ bytes }) => 1_000_000_000 + (bytes(1)[0] ?? 0));
  const read = readTemplate(identifier.generate);
  return 'template' in read ? new Fresh((draw) => read.template.make(draw)) : undefined;
}

/**
 * How the answer about a row that is hidden differs from that about one that is not there; nothing where nobody could tell
 * them apart. What names the request itself, and what differs from answer to answer anyhow, is not looked at.
 */
export function telltale(hidden: TrialExchange, missing: TrialExchange): string | undefined {
  if (hidden.status !== missing.status)
    return `${hidden.status} for the one that is hidden, ${missing.status} for one that is not there`;
  const names = [...new Set([...Object.keys(hidden.headers), ...Object.keys(missing.headers)])];
  const lacking = names.find(
    (name) => !varying.test(name) && (hidden.headers[name] === undefined) !== (missing.headers[name] === undefined),
  );
  if (lacking !== undefined) return `the header ${lacking} is there in one of the answers alone`;
  const [one, other] = [hidden, missing].map((exchange) => JSON.stringify(bareMap(exchange.body ?? exchange.text, exchange)));
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

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
