import type { Json } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { boundByPath, isWritable } from '../../../parts/payload.ts';
import type { Resource, Unique } from '../../../parts/resources.ts';
import { bodyFields, type TrialExchange } from '../../exchange/exchange.ts';
import type { FactName } from '../../exchange/facts.ts';
import type { TrialRow, WantedRow } from '../../exchange/row.ts';
import { Fresh, resolve, type Symbolic } from '../../exchange/symbol.ts';
import { rowFor } from '../../make/row-where.ts';
import type { Before } from '../../model/expectation.ts';
import { expectedAfter } from '../../model/expected.ts';
import type { Model } from '../../model/model.ts';
import { rowKnown } from '../../model/row-known.ts';
import { rowsShown, type ShownFields, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { bareMap } from '../../values/at-path.ts';

/** The fact that says that values are unique: what is allowed of the last of them. */
export function uniqueFact(resource: string, fields: readonly string[]): FactName {
  return { kind: 'allowed values', subject: `${resource}.${fields.at(-1) ?? ''}` };
}

/** Values for the fields of a rule that a caller writes, which no other row has: new ones, and rows to refer to. */
export async function freshValues(
  session: Session,
  resource: Resource,
  fields: readonly string[],
): Promise<Required<Pick<WantedRow, 'body' | 'parents'>>> {
  const { model } = session;
  const bound = new Set(model.endpointsThat('create', resource.name).flatMap((endpoint) => boundByPath(model.spec, endpoint)));
  const body: Record<string, Symbolic> = bareMap({});
  const parents: Record<string, TrialRow> = {};
  for (const name of fields) {
    const field = entryOf(resource.fields, name);
    if (!field || field.readOnly) continue;
    if (field.ref !== undefined) parents[name] = await rowFor(session, resource.name, name, field.ref);
    const value = parents[name]?.id ?? model.freshValue(resource.name, name);
    if (value !== undefined && !bound.has(name)) body[name] = value;
  }
  return { body, parents };
}

/** A text in other letters: capitals where there are small ones, and the other way round. */
export function inOtherCase(value: Symbolic): Fresh {
  return new Fresh((_draw, values) => {
    const text = String(resolve(value, values));
    return text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
  });
}

/** Whether two rows cannot both be there: they are alike in all that a rule names, and it is about both of them. */
export function areAlike(
  model: Model,
  resource: Resource,
  rule: Unique,
  { one, other }: { one: ShownFields; other: ShownFields },
): boolean {
  const isAlike = rule.fields.every((name) => {
    const value = one[name];
    const next = other[name];
    if (value === undefined || value === null || next === undefined || next === null) return false;
    return isSame(value, next) || (entryOf(resource.fields, name)?.ignoreCase === true && lower(value) === lower(next));
  });
  return isAlike && [one, other].every((row) => isAbout(model, resource, rule, row));
}

function lower(value: Json): string {
  return String(value).toLowerCase();
}

/** Whether a rule is about a row as it would be stored. */
function isAbout(model: Model, resource: Resource, rule: Unique, row: ShownFields): boolean {
  if (!rule.while) return true;
  const hidden = [...model.unseenBy(resource.name, undefined)].filter((name) => row[name] === undefined);
  const holds = model.expressions.evaluate(rule.while, undefined, { context: { next: row }, unseen: { next: new Set(hidden) } });
  return typeof holds === 'object' && holds.value === true;
}

/** A row as a change that made it or moved it was sent and answered: what its reader was not shown is as it was sent, or set for good. */
export function rowAfter(model: Model, resource: Resource, change: TrialExchange): ShownFields {
  const [shown] = rowsShown(model, change)?.rows ?? [];
  const verb = change.endpoint && statedValue(change.endpoint.does)?.verb;
  const isNew = verb === 'create';
  const unseen = model.unseenBy(resource.name, model.readerOf(change));
  const sent = bodyFields({ body: change.sent.json });
  // What is hidden stays as it is in a replacement, whatever is sent.
  const taken = verb === 'replace' ? Object.fromEntries(Object.entries(sent ?? {}).filter(([name]) => !unseen.has(name))) : sent;
  const fields = bareMap({ ...taken, ...(shown && unexpanded(model, resource.name, shown)) });
  return isNew ? rowKnown(model, resource.name, { fields, unseen, creation: change }).fields : fields;
}

/** The row that a request would have made of nothing, or of another row, as far as it can be reckoned; whatever was answered. */
export function rowMeant(model: Model, request: TrialExchange, before?: Before): ShownFields {
  const expected = expectedAfter(model, { ...request, status: 201 }, before);
  return bareMap(Object.fromEntries([...expected].flatMap(([name, one]) => (one.is === 'value' ? [[name, one.value]] : []))));
}

/** Whether a change can give a field of a row another value that its caller chooses. */
export function isChangeable(model: Model, resource: Resource, name: string): boolean {
  const field = entryOf(resource.fields, name);
  const isOwn = field !== undefined && isWritable(model.spec, resource, field) && !field.immutable;
  return isOwn && statedValue(resource.identifier)?.field !== name && Object.keys(field.set).length === 0;
}
