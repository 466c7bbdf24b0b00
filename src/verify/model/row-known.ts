import type { Json } from '../../document/document.ts';
import type { FieldValues } from '../../parts/expressions/cel-value.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { followedOf } from '../../parts/followed.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Field } from '../../parts/resources.ts';
import type { Spec } from '../../parts/spec.ts';
import { asText } from '../exchange/as-text.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import { derivedElsewhere } from './derived.ts';
import type { Before, Follow, RowFields } from './expectation.ts';
import { expectedAtFirst } from './expected.ts';
import { NotSeen } from './expressions.ts';
import type { Model } from './model.ts';
import { idIn, isMaking, rowIn, rowsShown, rowWith, type ShownFields, unexpanded } from './row-shown.ts';

/** Whether an exchange made the row of this identifier. */
export function hasMade(model: Model, exchange: TrialExchange, resource: string, id: Json): boolean {
  const effect = exchange.endpoint && statedValue(exchange.endpoint.does);
  const makes = isMaking(exchange);
  return makes && isDone(exchange) && resourceOfEffect(effect) === resource && asText(idIn(model, exchange)) === asText(id);
}

/** A row as conditions read it: as it was shown to its reader and, where a field is hidden, as its creation set it for good. */
export function rowKnown(
  model: Model,
  resource: string,
  {
    fields,
    unseen: hiddenThen,
    creation,
    follow,
  }: Before & {
    readonly creation: TrialExchange | undefined;
    /** Reads the rows that it refers to. */
    readonly follow?: Follow;
  },
): Before {
  const unseen = new Set(hiddenThen);
  const lasting = creation ? setForGood(model, resource, creation, follow) : {};
  const hidden = Object.fromEntries(Object.entries(lasting).filter(([name]) => unseen.has(name) && fields[name] === undefined));
  for (const name of [...Object.keys(hidden), ...Object.keys(fields)]) unseen.delete(name);
  return { fields: { ...hidden, ...fields }, unseen };
}

const reckoned = new WeakMap<TrialExchange, RowFields>();
const reckonedThrough = new WeakMap<TrialExchange, RowFields>();

/** What a creation gave the fields that nothing changes afterwards, as far as that can be reckoned from the request and its caller, or is revealed once. */
function setForGood(model: Model, name: string, creation: TrialExchange, follow: Follow | undefined): RowFields {
  const own = follow ? reckonedThrough : reckoned;
  const known = own.get(creation);
  if (known) return known;
  const resource = model.resource(name);
  const out: Record<string, Json> = {};
  const expected =
    resource && isDone(creation)
      ? expectedAtFirst(model, creation, undefined, follow && lastingThrough(model, follow))
      : new Map();
  for (const [field, stated] of resource ? entriesOf(resource.fields) : []) {
    const one = expected.get(field);
    if (!isForGood(model, name, stated)) continue;
    if (one?.is === 'value' && one.because !== 'state') out[field] = one.value;
    // What its making alone reveals is known since.
    const revealed = stated.reveal === 'once' && isDone(creation) ? rowIn(creation)?.[field] : undefined;
    if (revealed !== undefined) out[field] = revealed;
  }
  own.set(creation, out);
  return out;
}

/** Reads of a row what has been so ever since it was made: the rest may have been otherwise when it was read. */
function lastingThrough(model: Model, follow: Follow): Follow {
  return (name, key) => {
    const row = follow(name, key);
    const resource = model.resource(name);
    if (!resource || typeof row !== 'object' || row === null || Array.isArray(row)) return row;
    const moving = entriesOf(resource.fields).flatMap(([field, stated]) => (isForGood(model, name, stated) ? [] : [field]));
    // What is an object and no list has fields.
    return watched(row as RowFields, new Set(moving.filter((field) => field !== model.identifierField(name))));
  };
}

/** Whether only a creation gives a field its value, and nothing that follows from it another. */
function isForGood(model: Model, resource: string, { name, immutable, readOnly, set }: Field): boolean {
  const creating = new Set(['create', ...model.endpointsThat('create', resource).map(({ operation }) => operation)]);
  return (
    (immutable || readOnly) && Object.keys(set).every((word) => creating.has(word)) && !setBesides(model.spec, resource).has(name)
  );
}

const besides = new WeakMap<Spec, Map<string, ReadonlySet<string>>>();

/** The fields of a resource that what follows from other changes sets. */
export function setBesides(spec: Spec, resource: string): ReadonlySet<string> {
  const own = besides.get(spec) ?? new Map<string, ReadonlySet<string>>();
  besides.set(spec, own);
  const acts = followedOf(spec).flatMap((followed) => followed.acts);
  const meant = acts.filter(({ does }) => does?.resource === resource && does.verb !== 'create');
  const names = own.get(resource) ?? new Set(meant.flatMap(({ set }) => Object.keys(set)));
  own.set(resource, names);
  return names;
}

/** The row; whoever reads what was hidden from its reader is told so. */
export function watched(row: ShownFields, hidden: ReadonlySet<string>): ShownFields {
  if (hidden.size === 0) return row;
  const out: Record<string, Json> = { ...row };
  for (const name of hidden) {
    Object.defineProperty(out, name, {
      get: () => {
        throw new NotSeen(`${name} is not shown`);
      },
    });
  }
  return out;
}

/**
 * Reads rows through references: those that exchanges have shown, each as it was shown last. It throws NotSeen for a row that none
 * showed, and for a field that its reader was not shown, unless one of them made the row and set it for good. What is derived of other rows is read only
 * where nothing was changed since.
 */
export function followedIn(model: Model, exchanges: readonly TrialExchange[], isLatest = false): Follow {
  let resources: readonly (string | undefined)[] = [];
  const follow: Follow = (resource, key) => {
    if (resources.length === 0) resources = exchanges.map((exchange) => rowsShown(model, exchange)?.resource);
    const id = typeof key === 'string' ? key : identifierBy(model, exchanges, resource, key);
    const shown = exchanges.findLast((exchange, at) => resources[at] === resource && rowWith(model, exchange, id));
    const row = shown && rowWith(model, shown, id);
    if (!row) throw new NotSeen(`no ${resource} ${id} was shown`);
    const creation = exchanges.find((exchange) => hasMade(model, exchange, resource, id));
    const unseen = model.unseenBy(resource, model.readerOf(shown));
    const known = rowKnown(model, resource, { fields: row, unseen, creation, follow });
    // What is derived of other rows may have changed since it was shown.
    const moving = isLatest ? [] : derivedElsewhere(model.spec, resource);
    return watched(known.fields, new Set([...known.unseen, ...moving]));
  };
  return follow;
}

/** The identifier of the row that was shown last with these fields. @throws {NotSeen} where none was: it may be there all the same. */
function identifierBy(model: Model, exchanges: readonly TrialExchange[], resource: string, by: FieldValues): string {
  const field = model.identifierField(resource);
  const isMeant = (row: ShownFields) => Object.entries(by).every(([name, value]) => asText(row[name]) === asText(value));
  for (const exchange of exchanges.toReversed()) {
    const shown = rowsShown(model, exchange);
    const row = shown?.resource === resource ? shown.rows.find((one) => isMeant(unexpanded(model, resource, one))) : undefined;
    if (row?.[field] !== undefined) return asText(row[field]);
  }
  throw new NotSeen(`no such ${resource} was shown`);
}
