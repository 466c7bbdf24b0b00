import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { type EventLog, loggedOf } from '../../../parts/event-telling.ts';
import type { EventKind } from '../../../parts/events.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { asText } from '../../exchange/as-text.ts';
import { canShow, type TrialCaller } from '../../exchange/callers.ts';
import { type Flaw, type Judgement, moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { mayGoOn, walkingPages, widest } from '../../make/pages.ts';
import type { Allowed } from '../../model/access.ts';
import { isNeverShown } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { rowsShown, type ShownFields } from '../../model/row-shown.ts';
import { oneLine } from '../../values/difference.ts';
import { payloadFlaw } from './envelope.ts';
import { emittedFor, knownOf, type ObservedChange } from './expected.ts';

/** The field of the log that holds something of an event as it is. */
export function loggedField({ set }: EventLog, source: string): string | undefined {
  return Object.entries(set).find(([, expression]) => expression.source.trim() === source)?.[0];
}

/** Of a log that begins with what came last so many pages are read. */
const newestPages = 4;

/** Reads the log: what there is of one row, where the list can be narrowed to that, and of what came last only the first pages. */
export function readingLog(
  model: Model,
  log: EventLog,
  list: Endpoint,
  reader: TrialCaller | undefined,
  row?: TrialRow,
): ReturnType<typeof walkingPages> {
  const field = loggedField(log, 'event.row');
  const [narrowing] = entriesOf(list.parameters).flatMap(([name, { in: place, filters = name, op = '=' }]) =>
    place === 'query' && op === '=' && field !== undefined && filters === field ? [name] : [],
  );
  const query = { ...widest(model, list), ...(row && narrowing !== undefined && { [narrowing]: row.id }) };
  const [first] = list.order;
  const isNewestFirst = first?.descending === true && first.field === loggedField(log, 'event.at');
  return walkingPages(model, model.request(list, { query, caller: reader }), undefined, isNewestFirst ? newestPages : undefined);
}

/** The rows of some pages, each once. */
function rowsOf(model: Model, pages: readonly TrialExchange[]): readonly ShownFields[] | undefined {
  const shown = pages.map((page) => rowsShown(model, page)?.rows);
  return shown.some((rows) => rows === undefined) ? undefined : shown.flatMap((rows) => rows ?? []);
}

/** The rows that were not there before; nothing where one of the lists was not shown, or not to its end. */
export function freshRows(
  model: Model,
  log: EventLog,
  before: readonly TrialExchange[],
  after: readonly TrialExchange[],
): readonly ShownFields[] | undefined {
  const [old, now] = [rowsOf(model, before), rowsOf(model, after)];
  if (mayGoOn(before) || mayGoOn(after)) return undefined;
  const key = model.identifierField(log.resource);
  const known = new Set(old?.map((row) => asText(row[key])));
  return old && now?.filter((row) => !known.has(asText(row[key])));
}

/** The kind that a row is of: its name and action, as far as the log has them; nothing where it is of none that is stated. */
export function loggedKind(model: Model, log: EventLog, row: ShownFields): EventKind | undefined {
  const [name, action] = [loggedField(log, 'event.kind'), loggedField(log, 'event.action')];
  const like = entriesOf(model.spec.events.kinds).flatMap(([, kind]) =>
    (name === undefined || kind.called === row[name]) && (action === undefined || (kind.action ?? null) === (row[action] ?? null))
      ? [kind]
      : [],
  );
  return like.length === 1 ? like[0] : undefined;
}

/** That a change makes as many rows of a kind as it emits events, and that who may read them is shown them, and nobody else. */
export function loggedCount(
  model: Model,
  log: EventLog,
  kind: EventKind,
  reader: TrialCaller | undefined,
  { change, rows }: { readonly change: ObservedChange; readonly rows: readonly ShownFields[] | undefined },
): Judgement {
  const items = emittedFor(model, kind, change);
  if (!rows || !items) return moot('the log was not shown, or whether there is an event is not known');
  // What changes nothing emits nothing, and whether it does is not always seen.
  const isSure = !isUnsure(change);
  const reads = items.length === 0 ? 'yes' : mayRead(model, log, kind, change, reader);
  if (reads === 'unknown' || (!isSure && rows.length <= items.length)) return moot('whether it has to be there is not known');
  const wanted = reads === 'yes' ? items.length : 0;
  if (rows.length === wanted) return undefined;
  const who = reader?.name ?? 'whoever asks';
  const promised =
    reads === 'no' ? `${who} is not shown ${kind.name}` : `${change.operation.name} makes ${wanted} ${kind.name} in the log`;
  return { promised, seen: rows.length === 0 ? 'none is there' : `${rows.length} are there` };
}

/** Whether an update may have left the row as it was. */
function isUnsure({ operation, before, after }: ObservedChange): boolean {
  const verb = operation.endpoint && statedValue(operation.endpoint.does)?.verb;
  if ((verb !== 'update' && verb !== 'replace' && verb !== 'upsert') || operation.endpoint?.counts) return false;
  return before === undefined || after === undefined || isSame(before, after);
}

function mayRead(model: Model, log: EventLog, kind: EventKind, change: ObservedChange, reader: TrialCaller | undefined): Allowed {
  const [list] = model.endpointsThat('list', log.resource);
  if (!list) return 'unknown';
  const known = Object.entries(log.set).map(([field, expression]) => [field, reckoned(model, expression, kind, change)] as const);
  const resource = Object.fromEntries(known.flatMap(([field, value]) => (value ? [[field, value.value]] : [])));
  const unseen = new Set([
    ...known.flatMap(([field, value]) => (value ? [] : [field])),
    ...entriesOf(model.resource(log.resource)?.fields).flatMap(([name]) => (log.set[name] ? [] : [name])),
  ]);
  return model.access.allows(model.operationOf(list), reader, { context: { resource }, unseen: { resource: unseen } });
}

/** What a field of the log comes to for a change; nothing where that cannot be said here. */
function reckoned(
  model: Model,
  expression: Expression,
  kind: EventKind,
  change: ObservedChange,
): { readonly value: Json } | undefined {
  const { resource } = change.operation;
  const row = change.after ?? change.before;
  if (resource === undefined || !row || kind.each) return undefined;
  const { context, unseen = {} } = knownOf(model, kind, change);
  const which = change.after ? 'next' : 'resource';
  const id = row[model.identifierField(resource)];
  const event = { ...(context.event as object), resource, ...(id !== undefined && { row: asText(id) }) };
  const known = {
    context: { ...context, event, ...(context[which] !== undefined && { row: context[which] }) },
    unseen: { ...(unseen[which] && { row: unseen[which] }) },
  };
  const evaluated = model.expressions.evaluate(expression, loggedOf(resource), known);
  return typeof evaluated === 'string' ? undefined : evaluated;
}

/** What is wrong with what a row holds of its event, but for the payload. */
export function loggedFlaw(
  model: Model,
  log: EventLog,
  kind: EventKind,
  change: ObservedChange,
  row: ShownFields,
): Flaw | undefined {
  for (const [field, expression] of Object.entries(log.set)) {
    const stated = entryOf(model.resource(log.resource)?.fields, field);
    const wanted = reckoned(model, expression, kind, change);
    if (!wanted || !stated || stated.visible || (stated.show !== undefined && stated.show !== 'id')) continue;
    if (isSame(wanted.value, row[field] ?? null)) continue;
    return { promised: `${field} is \`${expression.source}\`: ${oneLine(wanted.value)}`, seen: oneLine(row[field] ?? null) };
  }
  return undefined;
}

/** The way to the payload in a row; nothing where the log does not hold it as it is. */
function wayToPayload(set: EventLog['set']): readonly string[] | undefined {
  for (const [name, { source, parts }] of Object.entries(set)) {
    if (source.trim() === 'event.payload') return [name];
    const inner = parts && wayToPayload(parts);
    if (inner) return [name, ...inner];
  }
  return undefined;
}

/** Who may read the log. */
function readersOf(model: Model, { resource }: EventLog): readonly TrialCaller[] {
  const [list] = model.endpointsThat('list', resource);
  // Whose credential is none there reads nothing with it.
  const mayRead = (one: TrialCaller) => list && canShow(one, list) && model.access.allows(model.operationOf(list), one) !== 'no';
  return model.callers.filter(mayRead);
}

export function loggedPayload(
  model: Model,
  log: EventLog,
  kind: EventKind,
  change: ObservedChange,
  items: readonly (Json | undefined)[],
  rows: readonly ShownFields[],
  reader: TrialCaller | undefined,
): Judgement {
  const way = wayToPayload(log.set);
  if (!way) return moot('the log does not hold the payload as it is');
  // What some of its readers do not see is left out of it.
  const shape = statedValue(kind.payload);
  const fields = typeof shape?.resource === 'string' ? entriesOf(model.resource(shape.resource)?.fields) : [];
  const hidden = new Set(readersOf(model, log).flatMap((one) => [...model.unseenBy(String(shape?.resource ?? ''), one)]));
  const left = fields.flatMap(([name, { visible }]) => (visible || hidden.has(name) ? [name] : []));
  const own = { ...change, unseen: new Set([...change.unseen, ...left]) };
  const payloadIn = (row: ShownFields) =>
    way.reduce<Json | undefined>((at, step) => (at !== undefined && isMap(at) ? at[step] : undefined), row as Json);
  for (const [name, field] of fields) {
    const blind = field.visible && readersOf(model, log).find((one) => isNeverShown(model.spec, field, one));
    const holding =
      blind && rows.map(payloadIn).find((payload) => isMap(payload ?? null) && Object.hasOwn(payload as object, name));
    if (holding) return { promised: `${name} is not shown to ${blind.user}, who may read the log`, seen: oneLine(holding) };
  }
  const flaws = items.map((item) => rows.map((row) => payloadFlaw(model, kind, payloadIn(row), own, reader, item)));
  return flaws.find((ofItem) => !ofItem.includes(undefined))?.[0];
}
