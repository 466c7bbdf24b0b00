import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { leftOutOf, neverShownTo } from '../../parts/left-out.ts';
import type { Field } from '../../parts/resources.ts';
import type { Spec } from '../../parts/spec.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { roomOf } from '../values/fresh.ts';

/** Whether a caller is not shown a field, in any answer but the first where it is revealed once. */
export function isHiddenFrom(field: Field, caller: TrialCaller | undefined): boolean {
  if (field.writeOnly || field.reveal === 'once' || (!field.stored && !field.children)) return true;
  return field.visible !== undefined && (caller === undefined || !field.visible.includes(caller.user));
}

/** Whether it is so by its own words, or by every rule that shows the caller rows. */
export function isNeverShown(spec: Spec, field: Field, caller: TrialCaller | undefined): boolean {
  return isHiddenFrom(field, caller) || neverShownTo(spec, { user: caller?.user }).has(field);
}

/** Whether what a field has can be seen by somebody, so that it can be shown that it is kept. */
export function isShownToSomebody(field: Field, callers: readonly TrialCaller[]): boolean {
  return !isHiddenFrom(field, undefined) || callers.some((caller) => !isHiddenFrom(field, caller));
}

const known = new WeakMap<Spec, WeakMap<object, Map<string, ReadonlySet<string>>>>();
const nobody = {};

/** The fields of a resource that a caller is not shown: asked for with every answer, and the same each time. */
export function fieldsHiddenFrom(spec: Spec, resource: string, caller: TrialCaller | undefined): ReadonlySet<string> {
  const all = known.get(spec) ?? new WeakMap<object, Map<string, ReadonlySet<string>>>();
  const own = all.get(caller ?? nobody) ?? new Map<string, ReadonlySet<string>>();
  known.set(spec, all.set(caller ?? nobody, own));
  const hidden = own.get(resource) ?? hiddenFields(spec, resource, caller);
  own.set(resource, hidden);
  return hidden;
}

/** The members of values that a caller is not shown, wherever such a value stands. */
export function hiddenInside(spec: Spec, caller: TrialCaller | undefined): ReadonlySet<string> {
  const values = entriesOf(spec.resources.all).filter(([, { identifier }]) => identifier.standing === 'none');
  const unstored = values.flatMap(([, { fields }]) => entriesOf(fields).flatMap(([name, { stored }]) => (stored ? [] : [name])));
  return new Set([...unstored, ...values.flatMap(([name]) => [...fieldsHiddenFrom(spec, name, caller)])]);
}

function hiddenFields(spec: Spec, resource: string, caller: TrialCaller | undefined): ReadonlySet<string> {
  const stated = entryOf(spec.resources.all, resource);
  const fields = stated ? entriesOf(stated.fields) : [];
  // What some rule leaves out may be there, or not.
  const leftOut = leftOutOf(spec, { user: caller?.user });
  return new Set(fields.filter(([, field]) => leftOut.has(field) || isHiddenFrom(field, caller)).map(([name]) => name));
}

/** Whether a patch may not take a member away: its field is required, and null takes away. */
export function isNeverNull(spec: Spec, { does, takes, request }: Endpoint, [name = '', ...inside]: readonly string[]): boolean {
  const effect = statedValue(does);
  if (effect?.verb !== 'update' || takes || isStated(request) || inside.length > 0) return false;
  const field = entryOf(entryOf(spec.resources.all, effect.resource)?.fields, name);
  return field !== undefined && statedValue(field.required) === true && !field.immutable && !field.keepsNull;
}

/** The members of a body without those that are null and that a patch may not take away. */
export function withoutNulls<T>(spec: Spec, endpoint: Endpoint, body: Readonly<Record<string, T>>): Record<string, T> {
  const taken = Object.entries(body).filter(([name, value]) => value !== null || !isNeverNull(spec, endpoint, [name]));
  return Object.fromEntries(taken);
}

/** Of fewer values than these another one is soon drawn twice: more of a combination is new then. */
const roomLeast = 1_000;

/** The fields that no two rows may share a value of, as many of each combination as it takes and no reference where there is another; a client's identifier among them. */
export function uniqueFields(spec: Spec, resource: string): readonly string[] {
  const all = unique.get(spec) ?? new Map<string, readonly string[]>();
  unique.set(spec, all);
  const found = all.get(resource) ?? uniqueIn(spec, resource);
  all.set(resource, found);
  return found;
}

const unique = new WeakMap<Spec, Map<string, readonly string[]>>();

function uniqueIn(spec: Spec, resource: string): string[] {
  const stated = entryOf(spec.resources.all, resource);
  if (!stated) return [];
  const identifier = statedValue(stated.identifier);
  const own = identifier?.generate === 'client' ? [identifier.field] : [];
  const combined = stated.unique.flatMap(({ fields }) => {
    const free = fields.filter((name) => {
      const field = entryOf(stated.fields, name);
      return field !== undefined && field.ref === undefined && !field.readOnly;
    });
    const rooms = free.map((name) => ({ name, room: roomOf(statedValue(entryOf(stated.fields, name)?.shape) ?? {}) }));
    // Of several the first that has most values, and others where these are few.
    const found: string[] = [];
    let room = 1;
    for (const one of rooms.sort((left, right) => (left.room === right.room ? 0 : right.room - left.room))) {
      if (room >= roomLeast) break;
      found.push(one.name);
      room *= one.room;
    }
    return found;
  });
  return [...new Set([...own, ...combined])];
}
