import type { Json } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import { toldAs } from '../../../parts/event-telling.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { actsAfter, comingOf, followingName } from '../../../parts/followed.ts';
import { altersInSight } from '../../../parts/left-out.ts';
import { namesOperation, type Operation, operationsOf } from '../../../parts/operations.ts';
import { machinesOf } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { type Allowed, callerContext } from '../../model/access.ts';
import { changedAgain } from '../../model/clock-changes.ts';
import type { Before } from '../../model/expectation.ts';
import type { Evaluated, Known } from '../../model/expressions.ts';
import type { Model } from '../../model/model.ts';
import { followedIn, hasMade, rowKnown } from '../../model/row-known.ts';
import { rowIn, showsResource } from '../../model/row-shown.ts';

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
  /** The exchanges that made the row and what it refers to, oldest first. */
  readonly beside: readonly TrialExchange[];
}

/** The kinds of event that an operation may emit, whatever their conditions. */
export function kindsOn(model: Model, operation: Operation): EventKind[] {
  return entriesOf(model.spec.events.kinds).flatMap(([, kind]) =>
    namesOperation(statedValue(kind.on) ?? [], operation, 'event') ? [kind] : [],
  );
}

/** The kinds of event that may come of an operation, and of all that follows from it. */
export function kindsComingOf(model: Model, operation: Operation): EventKind[] {
  const { spec } = model;
  const { endpoint } = operation;
  const acts = comingOf(spec, actsAfter(spec, endpoint && statedValue(endpoint.does), endpoint?.operation));
  const names = new Set(acts.flatMap(({ does }) => (does ? followingName(does) : [])));
  const following = operationsOf(spec).filter(({ name, follows }) => follows && names.has(name));
  return [operation, ...following].flatMap((one) => kindsOn(model, one));
}

/** What a change emits an event of a kind for: each item of its list, or once; nothing where that cannot be said. */
export function emittedFor(model: Model, kind: EventKind, change: ObservedChange): readonly (Json | undefined)[] | undefined {
  const { name } = change.operation;
  if (!namesOperation(statedValue(kind.on) ?? [], change.operation, 'event')) return [];
  const items = kind.each ? listed(model.expressions.evaluate(kind.each, name, knownOf(model, kind, change))) : [undefined];
  const holds = items?.map((item) => {
    if (!kind.if) return true;
    const evaluated = model.expressions.evaluate(kind.if, name, knownOf(model, kind, change, item));
    return typeof evaluated === 'string' ? undefined : evaluated.value === true;
  });
  return holds?.includes(undefined) ? undefined : items?.filter((_, index) => holds?.[index] === true);
}

function listed(evaluated: Evaluated): readonly Json[] | undefined {
  if (typeof evaluated === 'string') return undefined;
  return Array.isArray(evaluated.value) ? evaluated.value : [];
}

/** What conditions and payloads of a kind can read of a change. */
export function knownOf(model: Model, kind: EventKind, change: ObservedChange, item?: Json): Known {
  const { operation, before, after, acted, beside } = change;
  const { json, path, query } = acted.sent;
  const was = before && rowOf(model, change, before);
  const is = after && rowOf(model, change, after);
  return {
    context: {
      ...callerContext(acted.caller),
      operation: operation.name,
      params: { ...query, ...path },
      ...(was && { resource: was.fields }),
      ...(is && { next: is.fields }),
      ...(item !== undefined && { item }),
      event: { ...toldAs(model.spec, kind.name), ...beforeKnown(model, change) },
      ...(beside.length > 0 && { follow: followedIn(model, beside) }),
      request: json ?? {},
    },
    unseen: { ...(was && { resource: was.unseen }), ...(is && { next: is.unseen }) },
  };
}

/** What a change altered, as it was, where both are seen. */
function beforeKnown(
  model: Model,
  { operation, before, after, unseen }: ObservedChange,
): { readonly before?: Readonly<Record<string, Json>> } {
  const stated = model.resource(operation.resource ?? '');
  const verb = operation.endpoint && statedValue(operation.endpoint.does)?.verb;
  if (!stated) return {};
  if (verb === 'create' || verb === 'delete') return { before: {} };
  if (!before || !after) return {};
  const fields = entriesOf(stated.fields).filter(([, field]) => altersInSight(model.spec, field));
  if (fields.some(([name, { show }]) => unseen.has(name) || (show !== undefined && show !== 'id'))) return {};
  const altered = fields.filter(([name]) => !isSame(before[name], after[name]));
  return { before: Object.fromEntries(altered.map(([name]) => [name, before[name] ?? null])) };
}

/** A row of a change as conditions read it: with what its creation set for good where that is hidden. */
function rowOf(model: Model, { operation, acted, beside, unseen }: ObservedChange, fields: Fields): Before {
  const { resource = '' } = operation;
  const id = fields[model.identifierField(resource)] ?? null;
  const creation = [...beside, acted].find((exchange) => hasMade(model, exchange, resource, id));
  return rowKnown(model, resource, { fields, unseen, creation });
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
  if (kind.to) {
    const known = knownOf(model, kind, change);
    const context = { ...known.context, subscriber: subscription, ...callerContext(maker) };
    // Without an identifier of the maker's, `caller` would be that of the change.
    if (maker?.id === undefined && model.expressions.reads(kind.to, operation.name, 'caller')) return 'unknown';
    if (model.expressions.reads(kind.to, operation.name, 'event')) return 'unknown';
    const evaluated = model.expressions.evaluate(kind.to, operation.name, { ...known, context });
    return typeof evaluated === 'string' ? 'unknown' : evaluated.value === true ? 'yes' : 'no';
  }
  const row = rowToRead(model, change);
  if (operation.resource === undefined || !row) return 'unknown';
  const { fields, unseen } = rowOf(model, { ...change, unseen: new Set([...change.unseen, ...row.unseen]) }, row.fields);
  const follow = change.beside.length > 0 ? { follow: followedIn(model, change.beside) } : {};
  return mayRead(model, operation.resource, maker, { context: { resource: fields, ...follow }, unseen: { resource: unseen } });
}

/** The row as it is once a change is stored, before it for a deletion; of a transition that does not show it what may not be as before is unseen. */
function rowToRead(model: Model, { operation, before, after }: ObservedChange): Before | undefined {
  const effect = operation.endpoint && statedValue(operation.endpoint.does);
  const shown = after ?? (effect?.verb === 'delete' ? before : undefined);
  if (shown) return { fields: shown, unseen: none };
  const stated = model.resource(operation.resource ?? '');
  if (!before || !stated || effect?.verb !== 'transition') return undefined;
  const machine = machinesOf(model.spec.states, stated.name).find(({ transitions }) => entryOf(transitions, effect.transition));
  const targets = machine && entryOf(machine.transitions, effect.transition)?.to;
  if (!machine || targets?.length !== 1) return undefined;
  const altered = entriesOf(stated.fields).filter(
    ([, { set, derive }]) => derive !== undefined || set.write !== undefined || set[effect.transition] !== undefined,
  );
  return {
    fields: { ...before, [machine.field]: targets[0]?.state ?? null },
    unseen: new Set(altered.map(([field]) => field)),
  };
}

const none: ReadonlySet<string> = new Set();

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
  {
    shown,
    acted,
    beside = [],
  }: { shown: TrialExchange | undefined; acted: TrialExchange; beside?: readonly TrialExchange[] | undefined },
): ObservedChange {
  const resource = operation.resource ?? '';
  const effect = operation.endpoint && statedValue(operation.endpoint.does);
  const verb = effect?.verb;
  const isWhole = operation.endpoint !== undefined && showsResource(operation.endpoint, resource, acted.status);
  const again = effect ? changedAgain(model, resource, effect, operation.endpoint?.operation ?? operation.name) : [];
  const before = verb === 'create' ? undefined : shown && rowIn(shown);
  const after = verb === 'delete' || !isWhole ? undefined : rowIn(acted);
  const hidden = shown ? model.unseenIn(resource, shown.caller, before) : [];
  const unseen = new Set([...model.unseenIn(resource, acted.caller, after ?? before), ...hidden, ...again]);
  return { operation, acted, unseen, beside, before, after };
}

/** Whether a field is shown as it is: not expanded, and the same in a payload as in an answer. */
export function isPlainField(model: Model, resource: string, name: string): boolean {
  const field = entryOf(model.resource(resource)?.fields, name);
  return field !== undefined && (field.show === undefined || field.show === 'id') && field.ref === undefined;
}
