import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { boundByPath, childrenTakerOf, isWritable, takesChildren } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { toJsonSchema } from '../../../parts/schemas.ts';
import { hasMeaning, someInside } from '../../../parts/shapes/branches.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { Fresh, type Symbolic } from '../../exchange/symbol.ts';
import { foreignValue } from '../../make/claim-row.ts';
import { derivedElsewhere } from '../../model/derived.ts';
import { isShownToSomebody } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import { isFreeText } from '../../values/apart.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf, type Draft, Reference } from '../../values/values.ts';
import { edgesOf } from '../../values/variants.ts';

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
  // A subscriber may ask for nothing but kinds that there are, or for all of them.
  const kinds = subscribers?.resource === resource.name ? subscribers.events : undefined;
  const shown = entriesOf(resource.fields).filter(([name, field]) => isShownToSomebody(field, model.callers) && !bound.has(name));
  const taken = takenBy(endpoint);
  const own = shown.filter(([name, field]) => isOurs(model, resource, field) && (!taken || taken.has(name)));
  const whole = own.filter(([name, field]) => name !== kinds && (!isUpdate || !isUnion(model, field)));
  const alone = whole.map(([name, field]) => ({
    says: `${name} alone`,
    fields: [name],
    members: async (session: Session, row: TrialRow) => withValue(name, await anotherValue(session, resource, field, row)),
  }));
  // What replaces a row has its default where a field is left out, whatever was there.
  const removed = own.flatMap(([name, { required, keepsNull, default: usual }]) =>
    statedValue(required) === false || (isUpdate ? keepsNull : usual)
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
export async function anotherValue(
  session: Session,
  resource: Resource,
  field: Field,
  row: TrialRow,
): Promise<Symbolic | undefined> {
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
