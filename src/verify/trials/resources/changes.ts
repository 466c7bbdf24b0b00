import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { boundByPath, childrenTakerOf, isWritable, takesChildren } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { toJsonSchema } from '../../../parts/schemas.ts';
import { hasMeaning, someInside } from '../../../parts/shapes/branches.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { Fresh, type Symbolic } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRow, foreignValue, gapMinMs } from '../../make/claim-row.ts';
import { lookAt } from '../../make/look.ts';
import { pathValues } from '../../make/request-about.ts';
import { derivedElsewhere } from '../../model/derived.ts';
import { isShownToSomebody } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { isFreeText } from '../../values/apart.ts';
import { membersOf } from '../../values/at-path.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf, type Draft, Reference } from '../../values/values.ts';
import { edgesOf } from '../../values/variants.ts';
import { taken } from '../endpoints/bodies.ts';

/** A change of a row that is there, in all of what a caller may write or in one field of it. */
export interface RowChange {
  readonly says: string;
  /** The fields that it is about. */
  readonly fields: readonly string[];
  /** What is sent for them, null for one that is taken away; nothing where there is no such value. */
  members(session: Session, row: TrialRow): Promise<Readonly<Record<string, Symbolic>> | undefined>;
}

/** The changes that a row is put through, one after the other: every edge, every field alone, every one removed, and what is read-only. */
export function changesOf(model: Model, endpoint: Endpoint, resource: Resource): RowChange[] {
  const isUpdate = statedValue(endpoint.does)?.verb === 'update';
  const bound = new Set(boundByPath(model.spec, endpoint));
  const { subscribers } = statedValue(model.spec.events.delivery)?.push ?? {};
  // A subscriber may ask for nothing but kinds that there are.
  if (subscribers?.resource === resource.name && subscribers.events !== undefined) bound.add(subscribers.events);
  const shown = entriesOf(resource.fields).filter(([name, field]) => isShownToSomebody(field, model.callers) && !bound.has(name));
  const taken = takenBy(endpoint);
  const own = shown.filter(([name, field]) => isOurs(model, resource, field) && (!taken || taken.has(name)));
  const whole = own.filter(([, field]) => !isUpdate || !isUnion(model, field));
  const alone = whole.map(([name, field]) => ({
    says: `${name} alone`,
    fields: [name],
    members: async (session: Session, row: TrialRow) => withValue(name, await anotherValue(session, resource, field, row)),
  }));
  const removed = own.flatMap(([name, { required, keepsNull }]) =>
    statedValue(required) === false || (isUpdate && keepsNull)
      ? [
          {
            says: keepsNull && isUpdate ? `${name} set to null` : `${name} removed`,
            fields: [name],
            members: async () => ({ [name]: null }),
          },
        ]
      : [],
  );
  // What is derived of other rows too is looked at where those change.
  const elsewhere = derivedElsewhere(model.spec, resource.name);
  const effect = statedValue(endpoint.does);
  const taker = effect && childrenTakerOf(effect);
  // Children that a change takes are held to their form, though nothing is written to the field itself.
  const isTaken = (field: Field) => taker !== undefined && takesChildren(field, taker);
  const foreign = shown.filter(
    ([name, field]) => !isWritable(model.spec, resource, field) && !field.immutable && !elsewhere.has(name) && !isTaken(field),
  );
  const ignored = endpoint.readOnlySent || taken ? [] : readOnly(foreign, alone);
  return [
    ...edges(resource, whole),
    ...alone,
    ...(endpoint.counts ? sameAgain(resource, whole) : isUpdate ? nothing(resource, whole) : []),
    ...ignored,
    ...removed,
  ];
}

/** The members that a stated request takes, where none of them has to be sent with each of the others; nothing where it follows from the fields. */
function takenBy({ request, takes }: Endpoint): ReadonlySet<string> | undefined {
  if (!isStated(request) || takes) return undefined;
  const { properties, required } = request.value;
  const isFree = !Array.isArray(required) || required.length === 0;
  return new Set(isFree && isMap(properties) ? Object.keys(properties) : []);
}

function isOurs(model: Model, resource: Resource, field: Field): boolean {
  return isWritable(model.spec, resource, field) && !field.immutable && field.writable === undefined;
}

/** A patch of one branch of a union, merged into another, fits neither. */
function isUnion(model: Model, { shape }: Field): boolean {
  const stated = statedValue(shape);
  const isChoice = (one: JsonMap) => hasMeaning(one, 'alternatives', 'exclusive alternatives');
  return stated !== undefined && someInside(toJsonSchema(model.spec, stated, 'sent'), isChoice);
}

function withValue(name: string, value: Symbolic | undefined): Record<string, Symbolic> | undefined {
  return value === undefined ? undefined : { [name]: value };
}

/** All fields that have edges at their lowest, and all at their highest; values that no two rows may share are left as they are. */
function edges(resource: Resource, own: readonly (readonly [string, Field])[]): RowChange[] {
  const unique = new Set(resource.unique.flatMap(({ fields }) => fields));
  return (['lowest', 'highest'] as const).flatMap((edge) => {
    const members = own.flatMap(([name, { shape, set }]) => {
      const values = [...edgesOf(statedValue(shape) ?? {})].filter(({ value }) => value !== null);
      const one = edge === 'lowest' ? values[0] : values.at(-1);
      return !one || unique.has(name) || Object.keys(set).length > 0 ? [] : [[name, one.value] as const];
    });
    const fields = members.map(([name]) => name);
    const sent = async (session: Session) => {
      const heard = await session.heardAt(resource.name);
      return Object.fromEntries(members.map(([name, value]) => [name, heard?.field === name ? heard.address : value]));
    };
    return fields.length === 0 ? [] : [{ says: `all at their ${edge}`, fields, members: sent }];
  });
}

/** What the row was made with, and the same again, where that counts: what is set is set. */
function sameAgain(resource: Resource, own: readonly (readonly [string, Field])[]): RowChange[] {
  const isSet = ({ set }: Field) => Object.keys(set).length > 0;
  const change: RowChange = {
    says: 'what it was made with',
    fields: entriesOf(resource.fields).flatMap(([name, field]) => (isSet(field) ? [name] : [])),
    members: async (_session, { fields }) => {
      const [name] = own.find(([one, field]) => !isSet(field) && fields?.[one] !== undefined) ?? [];
      return name === undefined ? undefined : withValue(name, fields?.[name]);
    },
  };
  return [change, { ...change, says: 'what is there' }];
}

/** What is there already, sent again where that is no change: nothing is set. */
function nothing(resource: Resource, whole: readonly (readonly [string, Field])[]): RowChange[] {
  const own = whole.filter(([, { set, ref }]) => Object.keys(set).length === 0 && ref === undefined);
  // What is new in each run is not what is there once this is sent again: a word of a list or a number is.
  const isNew = ([, { shape }]: readonly [string, Field]) => Number(isFreeText(statedValue(shape) ?? {}));
  own.sort((one, other) => isNew(one) - isNew(other));
  const [, same] = sameAgain(resource, own);
  return own.length > 0 && same && same.fields.length > 0 ? [same] : [];
}

/** Values for what the service alone writes, of its type and of others, beside a change that is taken. */
function readOnly(foreign: readonly (readonly [string, Field])[], alone: readonly RowChange[]): RowChange[] {
  const [real] = alone;
  if (foreign.length === 0 || !real) return [];
  const typed = foreign.flatMap(([name, field]) => {
    const value = foreignValue(field);
    return value === undefined ? [] : [[name, value] as const];
  });
  const other = foreign.map(([name, { shape }]) => [name, statedValue(shape)?.type === 'string' ? 7 : 'nf-foreign'] as const);
  return [
    { says: 'what is read-only', values: typed },
    { says: 'what is read-only, of other types', values: other },
  ].flatMap(({ says, values }) =>
    values.length === 0
      ? []
      : [
          {
            says,
            fields: values.map(([name]) => name),
            members: async (session: Session, row: TrialRow) => ({
              ...(await real.members(session, row)),
              ...Object.fromEntries<Json>(values),
            }),
          },
        ],
  );
}

const drawsMost = 8;

/** A value that the row does not have: letters beyond ASCII where any text will do. */
async function anotherValue(session: Session, resource: Resource, field: Field, row: TrialRow): Promise<Symbolic | undefined> {
  const { model } = session;
  const shape = statedValue(field.shape);
  if (!shape) return undefined;
  if (field.ref !== undefined) return (await session.make(field.ref, { for: row.caller })).id;
  const heard = await session.heardAt(resource.name);
  if (heard?.field === field.name) return heard.address;
  if (isFreeText(shape)) return new Fresh((draw) => `${Buffer.from(draw.bytes(3)).toString('hex')}é日ß😀`);
  if (model.uniqueFields(resource.name).includes(field.name)) return model.freshValue(resource.name, field.name);
  try {
    const drawn = session.chance.values(arbitraryValuesOf(model.spec, shape, 'full'), drawsMost).filter((one) => !refers(one));
    // The cast holds: what has no reference in it is a value.
    return drawn.find((one) => one !== null && !isSame(one, row.fields?.[field.name])) as Symbolic | undefined;
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}

function refers(draft: Draft): boolean {
  if (draft instanceof Reference) return true;
  if (Array.isArray(draft)) return draft.some((one: Draft) => refers(one));
  return isMap(draft as Json) && Object.values(draft as Readonly<Record<string, Draft>>).some((one) => refers(one));
}

/** A row that is changed, by somebody who may, and a body with all that can be written. */
export interface RowChanging {
  readonly endpoint: Endpoint;
  readonly row: TrialRow;
  readonly caller: TrialCaller | undefined;
  readonly path: Readonly<Record<string, Symbolic>>;
  readonly whole: Readonly<Record<string, Symbolic>>;
}

/** Who changes a row by an endpoint, and what else is needed for it. @throws {Untestable} */
export async function changingOf(session: Session, endpoint: Endpoint, row: TrialRow): Promise<RowChanging> {
  const [caller] = callersFor(session, endpoint, row);
  session.need(
    caller !== undefined || !session.model.callers.some(({ credential }) => credential),
    `nobody may call ${endpoint.key}`,
  );
  const isPatch = statedValue(endpoint.does)?.verb === 'update';
  const { path, json } = isPatch
    ? { path: {}, json: {} }
    : await session.parts(endpoint, { style: 'whole', caller, changes: row });
  return { endpoint, row, caller, path: { ...path, ...pathValues(session.model, endpoint, row) }, whole: membersOf(json ?? {}) };
}

/** Changes the row and reads it; the reading, where the change was made. */
export async function changeRow(
  session: Session,
  { endpoint, row, caller, path, whole }: RowChanging,
  members: Readonly<Record<string, Symbolic>>,
  before: Done<TrialExchange>,
  field: string | undefined,
): Promise<Done<TrialExchange> | undefined> {
  const { model } = session;
  const isPatch = statedValue(endpoint.does)?.verb === 'update';
  const kept = Object.entries({ ...whole, ...members }).filter(([, value]) => value !== null);
  const json = isPatch ? members : Object.fromEntries(kept);
  const headers = await session.preconditions(endpoint, row, caller);
  const done = await session.send({ ...model.request(endpoint, { path, caller, json, headers }), afterMs: 2 * gapMinMs });
  const own = { kind: 'allowed values', subject: `${row.resource}.${field}` };
  const fact = field === undefined ? { kind: 'request payload shapes', subject: endpoint.key } : own;
  if (field !== undefined || isDone(done.value))
    session.claim({ fact, reason: 'taken', of: [done] as const, judge: (exchange: TrialExchange) => taken(model, exchange) });
  if (!isDone(done.value)) return undefined;
  claimRow(session, { resource: row.resource, before, change: done, seen: done, reason: 'answered' });
  const after = (await lookAt(session, row)).done;
  claimRow(session, { resource: row.resource, before, change: done, seen: after, reason: 'stored' });
  claimWhole(session, endpoint, { before, done });
  return after;
}

/** A replacement leaves nothing that was not sent, an update everything: what the verb itself says. */
function claimWhole(
  session: Session,
  endpoint: Endpoint,
  { before, done }: { readonly before: Done<TrialExchange>; readonly done: Done<TrialExchange> },
): void {
  const { model } = session;
  const verb = statedValue(endpoint.does)?.verb;
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  session.claim({
    fact: { kind: 'request payload shapes', subject: endpoint.key },
    reason: verb === 'update' ? 'merges' : 'replaces',
    of: [done, before] as const,
    judge(change: TrialExchange, was: TrialExchange) {
      const sent = bodyFields({ body: change.sent.json });
      const id = idIn(model, change);
      const now = isDone(change) ? rowWith(model, change, id) : undefined;
      const old = rowWith(model, was, id);
      if (!sent || !now || !old || !resource) return moot('the row is not shown');
      for (const [name, field] of entriesOf(resource.fields)) {
        const isPlain =
          isWritable(model.spec, resource, field) && Object.keys(field.set).length === 0 && !field.default && !field.immutable;
        if (
          !isPlain ||
          Object.hasOwn(sent, name) ||
          field.visible ||
          field.writable ||
          old[name] === undefined ||
          old[name] === null
        )
          continue;
        const isThere = now[name] !== undefined && now[name] !== null;
        if (verb === 'update' && !isThere) return { promised: `${name}, which was not sent, stays`, seen: 'it is gone' };
        if (verb !== 'update' && isThere && statedValue(field.required) === false)
          return { promised: `${name}, which was not sent, is gone`, seen: JSON.stringify(now[name]) };
      }
      return undefined;
    },
  });
}
