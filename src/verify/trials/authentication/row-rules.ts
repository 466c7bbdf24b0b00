import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import type { Operation } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { machinesOf } from '../../../parts/states.ts';
import { isSamePerson, type TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { isGiven } from '../../make/entrusted.ts';
import type { Allowed } from '../../model/access.ts';
import { changedByClock } from '../../model/clock-changes.ts';
import type { Known } from '../../model/expressions.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';

/** What a rule allows is refused neither as forbidden nor as missing. */
export function ownJudgement(
  model: Model,
  operation: Operation,
  caller: TrialCaller,
  seen: TrialExchange,
  maker: TrialExchange | undefined,
): Judgement {
  if (maker && !isDone(maker)) return moot('the row was not made');
  for (const when of ['caller.forbidden', 'resource.missing'] as const) {
    const refusal = refusalFor(model, when, operation);
    if (!refusal || !isRefusal(model, seen, refusal) || !isRefused(model, seen)) continue;
    return {
      promised: `a rule allows ${operation.name} on this row to ${caller.user}`,
      seen: `it was answered ${seen.status} (${refusal.code})`,
    };
  }
  return undefined;
}

/** What no rule allows is refused: as forbidden to who may read the row, as missing to who may not, or as a rule says. */
export function foreignJudgement(
  model: Model,
  operation: Operation,
  caller: TrialCaller,
  readable: Allowed,
  code: string | undefined,
  seen: readonly TrialExchange[],
): Judgement {
  const [maker] = seen;
  const answer = seen.at(-1);
  if (!answer || (seen.length > 1 && maker && !isDone(maker))) return moot('the row was not made');
  if (model.refusals.isHurried(answer)) return moot('the service had too much to do');
  // It would have needed a fact that is open, whoever had asked.
  if (model.refusals.isOpen(answer)) return moot('the service says that it cannot do this');
  const promised = `no rule allows ${operation.name} on this row to ${caller.user}`;
  const told = { seen: `it was answered ${answer.status}` };
  if (!isRefused(model, answer)) return { promised: `${promised}, so it is refused`, ...told };
  if (code !== undefined) {
    // Whether a rule has the word also where the row itself may not be known of is not said.
    const missing = readable === 'yes' ? undefined : refusalFor(model, 'resource.missing', operation);
    const fits = [{ code, status: undefined }, ...(missing ? [missing] : [])].some((one) => isRefusal(model, answer, one));
    return fits ? undefined : { promised: `${promised}, and then the rule says ${code}`, ...told };
  }
  if (readable === 'unknown') return undefined;
  const unknown = refusalFor(model, 'caller.unknown', operation);
  if (unknown && isRefusal(model, answer, unknown)) return moot('the caller was not known');
  const when = readable === 'yes' ? 'caller.forbidden.row' : 'resource.missing';
  const refusal = refusalFor(model, when, operation);
  if (!refusal || isRefusal(model, answer, refusal)) return undefined;
  const why = readable === 'yes' ? 'may read it' : 'may not read it either';
  return { promised: `${promised}, who ${why}: ${refusal.status} (${refusal.code})`, ...told };
}

/** The code of a rule's `else`, which then has the word; nothing where no rule that stands for the caller has one. */
export function ownCode(model: Model, operation: Operation, caller: TrialCaller): string | undefined {
  return (model.access.rules(operation, caller) ?? []).find((rule) => rule.else !== undefined)?.else;
}

/** Whether a caller may read a row: a rule of an operation that reads it holds, or of a list where none does. */
export function readability(model: Model, row: TrialRow, caller: TrialCaller, known: Known): Allowed {
  const reads = model.endpointsThat('read', row.resource).filter((endpoint) => endpoint.identity === undefined);
  const asked = reads.length > 0 ? reads : model.endpointsThat('list', row.resource);
  // A path that names parents, or an operation with `identity`, has a word in it that is not asked here.
  const isPlain =
    asked.every((endpoint) => pathParameters(endpoint.path).length <= 1) &&
    model.endpointsThat('read', row.resource).length === reads.length;
  const answers = asked.map((endpoint) => model.access.allows(model.operationOf(endpoint), caller, known));
  if (answers.includes('yes')) return isPlain ? 'yes' : 'unknown';
  return answers.every((answer) => answer === 'no') ? 'no' : 'unknown';
}

const usersMost = 4;

/** Whose rows a caller is tried on: those of another of the same user first, then of one of each other user, its own last. */
export function makersFor(model: Model, caller: TrialCaller): TrialCaller[] {
  const others = model.callers.filter((one) => !isSamePerson(one, caller));
  const users = [...new Set([caller.user, ...others.map(({ user }) => user)])].slice(0, usersMost);
  return [...users.flatMap((user) => others.find((one) => one.user === user) ?? []), caller];
}

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

/** Whether each of the rules that let a caller list has a condition over the row. */
export function isCutDown(model: Model, endpoint: Endpoint, caller: TrialCaller): boolean {
  const operation = model.operationOf(endpoint);
  if (!caller.credential || model.access.isPublic(operation)) return false;
  const rules = model.access.rules(operation, caller) ?? [];
  return rules.length > 0 && rules.every((rule) => rule.if && model.expressions.reads(rule.if, operation.name, 'resource'));
}

/** Whether a caller may list all where others are shown some: the first of those of its user who show the same scheme. */
export function isSparedOf(model: Model, endpoint: Endpoint, caller: TrialCaller): boolean {
  const rules = model.access.rules(model.operationOf(endpoint), caller) ?? [];
  const isAlike = ({ user, credential }: TrialCaller) =>
    user === caller.user && credential?.scheme.name === caller.credential?.scheme.name;
  return (
    caller.credential !== undefined &&
    rules.some((rule) => !rule.if) &&
    model.callers.find(isAlike) === caller &&
    model.callers.some((other) => isCutDown(model, endpoint, other))
  );
}

/** Whether the rules may allow an operation on a row as it was shown last, and the clock has not moved it since. */
export function staysAllowed(
  model: Model,
  operation: Operation,
  caller: TrialCaller,
  { resource, made, last, seen }: { readonly resource: string } & Readonly<Record<'made' | 'last' | 'seen', TrialExchange>>,
): boolean {
  const id = idIn(model, made);
  // What was done to it since it was made may be what allows it.
  const row = rowWith(model, last, id);
  if (!row) return true;
  const unseen = { resource: model.unseenIn(resource, model.readerOf(last), row) };
  if (model.access.allows(operation, caller, { context: { resource: row }, unseen }) === 'no') return false;
  const byClock = changedByClock(model, resource, [last, seen], (one) => (one === last ? row : undefined));
  return !machinesOf(model.spec.states, resource).some(({ field }) => byClock(field));
}

/** Whether a caller is one of the first two of its user for whom rules of an operation are: what one of them does is another's to the other. */
export function isOfFirstTwo({ callers, access }: Model, operation: Operation, caller: TrialCaller): boolean {
  const able = callers.filter((one) => one.user === caller.user && (access.rules(operation, one)?.length ?? 0) > 0);
  return able.slice(0, 2).includes(caller);
}

/** To whom rows are given, where they are given to somebody: to the caller, and to another like it. */
export function namedFor(model: Model, resource: string, caller: TrialCaller): readonly (TrialCaller | undefined)[] {
  if (!isGiven(model, resource)) return [undefined];
  const other = model.callers.find((one) => one.user === caller.user && !isSamePerson(one, caller));
  return other ? [caller, other] : [caller];
}
