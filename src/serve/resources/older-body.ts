import { pathOf, pointerOf } from '../../document/pointer.ts';
import { isSame } from '../../document/values.ts';
import type { Children, ChildrenTaker } from '../../parts/children.ts';
import { compileDefaults } from '../../parts/defaults.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { childrenTakerOf, isStateSent, isWritable, requestShape, takesChildren } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Carry, isMembers, mergeJson } from '../../parts/versions/carry.ts';
import { CannotCarry } from '../../parts/versions/change-values.ts';
import type { Compilation, OlderVersion } from '../exchange/compilation.ts';
import type { Exchange, Fields, OlderRequest, Value } from '../exchange/exchange.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import { changedField, unknownField } from './body.ts';
import type { RowModel } from './model.ts';
import { compileKeptNulls, type KeepingNull, readOnlyIn } from './sent-members.ts';

/** A body as its version has it, held to its version's shape, and what the newest makes of it. */
interface RaisedBody {
  readonly older: OlderRequest;
  readonly request: Value;
}

/** Compiles the raising of an endpoint's bodies; nothing where they are the same in both versions. */
export function compileRaiseBody(
  endpoint: Endpoint,
  older: OlderVersion,
  spec: Spec,
): ((body: Value, user: string | undefined) => RaisedBody) | undefined {
  if (isStated(endpoint.request)) {
    const carry = older.carries.shape(endpoint.request.value);
    return carry && raiseWhole(carry, endpoint, older, () => new Set());
  }
  const effect = statedValue(endpoint.does);
  const writes =
    effect?.verb === 'create' || effect?.verb === 'replace' || effect?.verb === 'upsert' || effect?.verb === 'update';
  const carry = writes ? older.carries.resource(effect.resource) : undefined;
  if (!writes || !carry) return undefined;
  const known = new Map<string, ReadonlySet<string>>();
  const isUpdate = effect.verb === 'update';
  const taker = childrenTakerOf(effect);
  const droppedFor = (user: string | undefined) => {
    const found =
      known.get(user ?? '') ??
      new Set(unwritable(spec, effect.resource, user, isUpdate, taker).map((name) => carry.newer(name)?.older ?? name));
    known.set(user ?? '', found);
    return found;
  };
  const held = taker ? childrenIn(effect.resource, older, spec, taker) : undefined;
  return isUpdate ? raisePatch(carry, endpoint, droppedFor) : raiseWhole(carry, endpoint, older, droppedFor, held);
}

/** A body that is a whole value. Step 12 refuses what is wrong with it, so that it is only found out here. */
function raiseWhole(
  carry: Carry,
  endpoint: Endpoint,
  older: OlderVersion,
  droppedFor: (user: string | undefined) => ReadonlySet<string>,
  held?: WithoutUnwritable,
): (body: Value, user: string | undefined) => RaisedBody {
  const olderEndpoint = entryOf(older.spec.endpoints.all, endpoint.key) ?? endpoint;
  const shape = statedValue(requestShape(older.spec, olderEndpoint)) ?? {};
  const validate = older.validate(shape, 'sent');
  const fill = compileDefaults(older.spec, shape);
  return (sent, user) => {
    const dropped = droppedFor(user);
    const body = isMembers(sent) ? without(sent, dropped) : sent;
    if (held && isMembers(body)) held(body, user);
    fill?.(body);
    const violations = [...(endpoint.readOnlySent ? readOnlyIn(sent, dropped) : []), ...validate(body)];
    if (violations.length > 0) return { older: { body, violations }, request: sent };
    try {
      return { older: { body, violations }, request: carry.up(body) };
    } catch (failure) {
      return { older: { body, violations: [uncarried(failure, body)] }, request: sent };
    }
  };
}

/** A merge patch is held to its version's shape once it is put onto the row: alone it is no whole value. */
function raisePatch(
  carry: Carry,
  { readOnlySent }: Endpoint,
  droppedFor: (user: string | undefined) => ReadonlySet<string>,
): (body: Value, user: string | undefined) => RaisedBody {
  return (sent, user) => {
    const dropped = droppedFor(user);
    const body = isMembers(sent) ? without(sent, dropped) : sent;
    const violations = readOnlySent ? readOnlyIn(sent, dropped) : [];
    try {
      return { older: { body, violations }, request: isMembers(body) ? carry.up(body, {}) : body };
    } catch (failure) {
      if (!(failure instanceof CannotCarry)) throw failure;
      return { older: { body, violations }, request: body };
    }
  };
}

/** What is wrong with a value that fits its version and that no change can carry up. @throws whatever else it was. */
function uncarried(failure: unknown, body: Value): Violation {
  if (!(failure instanceof CannotCarry)) throw failure;
  return {
    in: 'body',
    path: pointerOf(failure.path),
    found: describeValue(valueAtPath(body, failure.path)),
    expected: 'a value that the newest version can hold',
  };
}

/** Takes out of children, in place, what is not for their caller to write. */
type WithoutUnwritable = (body: Record<string, Value>, user: string | undefined) => void;

/** The same for all children that are sent with a row, by the names of its version; nothing where there are none. */
function childrenIn(name: string, { carries }: OlderVersion, spec: Spec, taker: ChildrenTaker): WithoutUnwritable | undefined {
  const namesIn = (resource: string) => (field: string) => carries.resource(resource)?.newer(field)?.older ?? field;
  const fields = entriesOf(entryOf(spec.resources.all, name)?.fields);
  const held = fields.flatMap(([field, stated]) => {
    const { children } = stated;
    return children && takesChildren(stated, taker) ? [{ name: namesIn(name)(field), children }] : [];
  });
  if (held.length === 0) return undefined;
  const droppedFor = ({ field, resource }: Children, user: string | undefined): ReadonlySet<string> => {
    // One that is there already is named by its identifier.
    const identifier = taker === 'create' ? undefined : statedValue(entryOf(spec.resources.all, resource)?.identifier)?.field;
    const names = unwritable(spec, resource, user, taker !== 'create').filter((one) => one !== identifier);
    return new Set([field, ...names].map(namesIn(resource)));
  };
  const byUser = new Map<string | undefined, readonly (readonly [field: string, dropped: ReadonlySet<string>])[]>();
  return (body, user) => {
    const known = byUser.get(user) ?? held.map((one) => [one.name, droppedFor(one.children, user)] as const);
    byUser.set(user, known);
    for (const [field, dropped] of known) {
      const list = body[field];
      if (Array.isArray(list)) body[field] = list.map((item: Value) => (isMembers(item) ? without(item, dropped) : item));
    }
  };
}

function unwritable(spec: Spec, name: string, user: string | undefined, isUpdate: boolean, taker?: ChildrenTaker): string[] {
  const resource = entryOf(spec.resources.all, name);
  if (!resource) return [];
  return entriesOf(resource.fields)
    .filter(
      ([, field]) =>
        !(
          isWritable(spec, resource, field) ||
          (isUpdate && isStateSent(spec, resource, field)) ||
          (taker && takesChildren(field, taker))
        ) ||
        (field.writable !== undefined && (user === undefined || !field.writable.includes(user))),
    )
    .map(([field]) => field);
}

function without(members: Readonly<Record<string, Value>>, dropped: ReadonlySet<string>): Record<string, Value> {
  const rest: Record<string, Value> = Object.create(null);
  for (const name of Object.keys(members)) if (!dropped.has(name)) rest[name] = members[name];
  return rest;
}

/** What stands at a path of a value; nothing where it leads nowhere. */
export function valueAtPath(value: Value, path: readonly string[]): Value {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    // An object or a list, by the test above.
    at = (at as Readonly<Record<string, Value>>)[step];
  }
  return at;
}

/** A merge patch of an older version on a row: what would be stored, or what is wrong with it in that version's words. */
type OlderUpdate = (
  exchange: Exchange,
  before: Fields,
) => { readonly next: Fields } | { readonly violations: readonly Violation[] } | undefined;

/** Compiles it; nothing where the resource is the same in both versions. */
export function compileOlderUpdate(model: RowModel, { version }: Compilation): OlderUpdate | undefined {
  const carry = version?.carries.resource(model.name);
  const resource = version && entryOf(version.spec.resources.all, model.name);
  if (!version || !carry || !resource) return undefined;
  const validate = version.validate({ resource: model.name }, 'stored');
  const fields = statedValue(resource.fields) ?? {};
  const calledIn = (name: string): string => carry.newer(name)?.older ?? name;
  const keepingNull = compileKeptNulls(model, calledIn);
  const keepingOlder = compileOlderNulls(model, calledIn);
  return (exchange, before) => {
    const patch = exchange.older?.body;
    if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return undefined;
    // An object, by the test above.
    const sent = patch as Fields;
    const unknown = resource.additionalProperties ? [] : Object.keys(sent).filter((name) => !Object.hasOwn(fields, name));
    if (unknown.length > 0) return { violations: unknown.map((name) => unknownField(name, sent[name], model.name)) };
    const wrong = validate(keepingOlder(mergeJson(carry.down(before), sent) as Fields, sent)).filter(({ path }) =>
      touches(sent, path),
    );
    if (wrong.length > 0) return { violations: wrong };
    try {
      const next = keepingNull(carry.merge(before, sent), sent);
      const changed = model.immutable.filter((name) => {
        const older = carry.newer(name)?.older;
        return older !== undefined && sent[older] !== undefined && !isSame(next[name], before[name]);
      });
      if (changed.length === 0) return { next };
      const names = changed.map((name) => carry.newer(name)?.older ?? name);
      return { violations: names.map((name) => changedField(name, sent[name])) };
    } catch (failure) {
      return { violations: [uncarried(failure, sent)] };
    }
  };
}

/** The same for the row as its version has it. */
function compileOlderNulls({ fields }: RowModel, calledIn: (name: string) => string): KeepingNull {
  const kept = [...fields.values()].flatMap(({ name, keepsNull }) => (keepsNull ? [calledIn(name)] : []));
  return (next, patch) => {
    for (const name of kept) if (patch[name] === null) next[name] = null;
    return next;
  };
}

/** Whether what is wrong lies in what was sent; a row that was right before is not held against its next patch. */
function touches(sent: Fields, path: string): boolean {
  const [field] = pathOf(path);
  return field === undefined || Object.hasOwn(sent, field);
}
