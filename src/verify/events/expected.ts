import type { Json } from '../../document/document.ts';
import type { EventKind } from '../../parts/events.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Allowed } from '../model/access.ts';
import { callerContext } from '../model/access.ts';
import type { TrialCaller } from '../model/callers.ts';
import type { Known } from '../model/expressions.ts';
import type { Model } from '../model/model.ts';
import { bodyFields, type TrialExchange } from '../script/exchange.ts';

type Fields = Readonly<Record<string, Json>>;

/** What an operation did, as far as it is known: the row before and after, and the request. */
export interface ObservedChange {
  readonly operation: Operation;
  /** The row as it was; nothing where it was made. */
  readonly before: Fields | undefined;
  /** The row as it is; nothing where it was deleted. */
  readonly after: Fields | undefined;
  readonly acted: TrialExchange;
  /** The fields that whoever looked was not shown. */
  readonly unseen: ReadonlySet<string>;
}

/** The kinds of event that an operation may emit, whatever their conditions. */
export function kindsOn(model: Model, operation: Operation): EventKind[] {
  return entriesOf(model.spec.events.kinds).flatMap(([, kind]) =>
    namesOperation(statedValue(kind.on) ?? [], operation, 'event') ? [kind] : [],
  );
}

/** Whether a change emits an event of a kind. */
export function isEmitted(model: Model, kind: EventKind, change: ObservedChange): Allowed {
  if (!namesOperation(statedValue(kind.on) ?? [], change.operation, 'event')) return 'no';
  if (!kind.if) return 'yes';
  const evaluated = model.expressions.evaluate(kind.if, change.operation.name, knownOf(change));
  if (evaluated === 'unknown' || evaluated === 'failed') return 'unknown';
  return evaluated.value === true ? 'yes' : 'no';
}

/** What conditions and payloads can read of a change. */
export function knownOf({ operation, before, after, acted, unseen }: ObservedChange): Known {
  const { json, path, query } = acted.sent;
  return {
    context: {
      ...callerContext(acted.caller),
      operation: operation.name,
      params: { ...query, ...path },
      ...(before && { resource: before }),
      ...(after && { next: after }),
      request: json ?? {},
    },
    unseen: { resource: unseen, next: unseen },
  };
}

/**
 * Whether a subscriber has to hear of an event of a kind about a row: its maker may read the row as it then is, before it for a
 * deletion. `to` says otherwise.
 */
export function isHeardBy(
  model: Model,
  kind: EventKind,
  change: ObservedChange,
  maker: TrialCaller | undefined,
  subscription: Fields,
): Allowed {
  const { operation } = change;
  const row = change.after ?? change.before;
  if (kind.to) {
    const known = knownOf(change);
    const context = { ...known.context, subscriber: subscription, ...callerContext(maker) };
    // Without an identifier of the maker's, `caller` would be that of the change.
    if (maker?.id === undefined && model.expressions.reads(kind.to, operation.name, 'caller')) return 'unknown';
    if (model.expressions.reads(kind.to, operation.name, 'event')) return 'unknown';
    const evaluated = model.expressions.evaluate(kind.to, operation.name, { ...known, context });
    return typeof evaluated === 'string' ? 'unknown' : evaluated.value === true ? 'yes' : 'no';
  }
  if (operation.resource === undefined || !row) return 'unknown';
  return mayRead(model, operation.resource, maker, { context: { resource: row }, unseen: { resource: change.unseen } });
}

/** Whether somebody may read a row: a rule of an operation that reads it holds, or of a list where none does. */
function mayRead(model: Model, resource: string, caller: TrialCaller | undefined, known: Known): Allowed {
  const reads = model.endpointsThat('read', resource);
  const asked = reads.length > 0 ? reads : model.endpointsThat('list', resource);
  if (asked.some(({ identity }) => identity !== undefined)) return 'unknown';
  const answers = asked.map((endpoint) => model.access.allows(model.operationOf(endpoint), caller, known));
  if (answers.includes('yes')) return 'yes';
  return answers.every((answer) => answer === 'no') ? 'no' : 'unknown';
}

/** A change from exchanges: the row as it was shown, and the request that changed it. */
export function changeIn(
  model: Model,
  operation: Operation,
  shown: TrialExchange | undefined,
  acted: TrialExchange,
): ObservedChange {
  const resource = operation.resource ?? '';
  const verb = operation.endpoint && statedValue(operation.endpoint.does)?.verb;
  const isWhole = operation.endpoint?.response.standing === 'open';
  const unseen = new Set([...model.unseenBy(resource, acted.caller), ...(shown ? model.unseenBy(resource, shown.caller) : [])]);
  return {
    operation,
    acted,
    unseen,
    before: verb === 'create' ? undefined : shown && bodyFields(shown),
    after: verb === 'delete' || !isWhole ? undefined : bodyFields(acted),
  };
}

/** Whether a field is shown as it is: not expanded, and the same in a payload as in an answer. */
export function isPlainField(model: Model, resource: string, name: string): boolean {
  const field = entryOf(model.resource(resource)?.fields ?? { standing: 'open', at: '' }, name);
  return field !== undefined && (field.show === undefined || field.show === 'id') && field.ref === undefined;
}
