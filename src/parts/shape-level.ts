/**
 * One level of a shape: its members, those that are absent, what tells its branches apart, and the resources that it speaks of.
 */

import type { Json, JsonMap } from '../document/document.ts';
import { isMap } from '../document/values.ts';
import { entriesOf, entryOf, statedValue } from './fact.ts';
import type { Field, Resource } from './resources.ts';
import type { Shape } from './shape.ts';
import { branchesOf, eachInside } from './shapes/branches.ts';
import type { Spec } from './spec.ts';

/** A member that a shape states of its values. */
interface LevelMember {
  readonly name: string;
  readonly shape: JsonMap;
  /** The field that it is, where its holder is a resource. */
  readonly field?: Field;
}

/** What a shape says of what stands directly inside its values. */
export interface Level {
  readonly members: readonly LevelMember[];
  /** The shape of members that are not named. */
  readonly rest?: JsonMap;
  readonly items?: JsonMap;
  /** The shapes that speak of the same values as well: alternatives, and what has to fit besides. */
  readonly branches: readonly JsonMap[];
}

/**
 * One level of a shape, as everything that goes along a value needs it: the names of values are followed, and a resource has its
 * fields as members. What is inside may lead back here, so those who go further remember the resources that they have met.
 */
export function levelOf(spec: Spec, shape: JsonMap): Level {
  const resolved = resolvedShape(spec, shape);
  if (typeof resolved.resource === 'string') {
    const resource = entryOf(spec.resources.all, resolved.resource);
    const fields = resource ? entriesOf(resource.fields) : [];
    return { members: fields.map(([name, field]) => ({ name, shape: statedValue(field.shape) ?? {}, field })), branches: [] };
  }
  const { properties, additionalProperties: rest, items } = resolved;
  return {
    members: Object.entries(isMap(properties) ? properties : {}).flatMap(([name, inner]) =>
      isMap(inner) ? [{ name, shape: inner }] : [],
    ),
    ...(isMap(rest) && { rest }),
    ...(isMap(items) && { items }),
    branches: branchesOf(resolved),
  };
}

/** Takes members out of a value, in place. */
type Drop = (value: unknown) => void;

/** A member of a map: what is inside it, and whether it goes where it is null. */
interface Member {
  readonly name: string;
  readonly mayGo: boolean;
  readonly inside: Drop;
}

/** Compiles what takes the members out of values of a shape that are null, though their shape takes none and they need not be there. */
export function compileWithoutAbsent(spec: Spec, shape: Shape): Drop {
  return compileDrop(spec, shape, new Map());
}

/** A shape that leads back to itself is compiled once: values end where shapes do not. */
function compileDrop(spec: Spec, shape: Shape, known: Map<Shape, Drop>): Drop {
  const found = known.get(shape);
  if (found) return found;
  const members: Member[] = [];
  const drop: Drop = (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    // An object that is no list: fields.
    const fields = value as Record<string, unknown>;
    for (const { name, mayGo, inside } of members) {
      if (!Object.hasOwn(fields, name)) continue;
      if (fields[name] !== null) inside(fields[name]);
      else if (mayGo) delete fields[name];
    }
  };
  known.set(shape, drop);
  const { required } = resolvedShape(spec, shape);
  const needed = Array.isArray(required) ? required : [];
  for (const { name, shape: own, field } of levelOf(spec, shape).members) {
    const isNeeded = field ? statedValue(field.required) === true : needed.includes(name);
    members.push({ name, mayGo: !isNeeded && !takesNull(own), inside: compileDrop(spec, own, known) });
  }
  return drop;
}

function takesNull({ type, nullable, ...rest }: Shape): boolean {
  const types = Array.isArray(type) ? type : [type];
  return types.includes('null') || nullable === true || (type === undefined && Object.keys(rest).length === 0) || isMap(rest.not);
}

/** The members that a branch of a union fixes to one value: what tells it from the others. */
type Constants = readonly (readonly [name: string, value: Json])[];

export function constantsOf(spec: Spec, named: JsonMap): Constants {
  return levelOf(spec, named).members.flatMap(({ name, shape }): [string, Json][] => {
    const { const: constant } = resolvedShape(spec, shape);
    return constant !== undefined ? [[name, constant]] : [];
  });
}

/** Whether a value can be of the branch with these constants. */
export function fitsBranch(value: unknown, constants: Constants): boolean {
  if (typeof value !== 'object' || value === null) return true;
  // Not null and no scalar: its members are read by name.
  const members = value as Readonly<Record<string, unknown>>;
  return constants.every(([name, constant]) => members[name] === undefined || members[name] === constant);
}

/** The resources that a shape speaks of, itself and at any depth inside it, but not inside those. */
export function resourcesIn(shape: Json | undefined, found = new Set<string>()): Set<string> {
  eachInside(shape, ({ resource }) => {
    if (typeof resource === 'string') found.add(resource);
  });
  return found;
}

/** The resources from which, over whatever holds whatever, one is reached that has something; those themselves included. */
export function reaching(spec: Spec, has: (resource: Resource) => boolean): ReadonlySet<string> {
  const holders = holdersOf(spec);
  const reached = new Set(entriesOf(spec.resources.all).flatMap(([name, resource]) => (has(resource) ? [name] : [])));
  // A set is gone through with what is added on the way.
  for (const name of reached) for (const holder of holders.get(name) ?? []) reached.add(holder);
  return reached;
}

/** The shapes that a resource is made of. */
export function shapesOf(spec: Spec, name: string): JsonMap[] {
  const resource = entryOf(spec.resources.all, name);
  const whole = resource?.shape && statedValue(resource.shape);
  const fields = resource ? entriesOf(resource.fields).map(([, field]) => statedValue(field.shape)) : [];
  return [whole, ...fields].filter((shape) => shape !== undefined);
}

/** By resource, those that hold it. */
function holdersOf(spec: Spec): ReadonlyMap<string, ReadonlySet<string>> {
  const known = holdersBySpec.get(spec);
  if (known) return known;
  const holders = new Map<string, Set<string>>();
  for (const [name] of entriesOf(spec.resources.all)) {
    for (const held of shapesOf(spec, name).reduce((found, shape) => resourcesIn(shape, found), new Set<string>())) {
      const list = holders.get(held);
      if (list) list.add(name);
      else holders.set(held, new Set([name]));
    }
  }
  holdersBySpec.set(spec, holders);
  return holders;
}

const holdersBySpec = new WeakMap<Spec, ReadonlyMap<string, ReadonlySet<string>>>();

/** The shape of a resource that is a value without fields, such as a union or a word with bounds; nothing for any other. */
export function valueShape(spec: Spec, name: string): Shape | undefined {
  const resource = entryOf(spec.resources.all, name);
  if (resource?.shape === undefined || resource.fields.standing !== 'none') return undefined;
  return statedValue(resource.shape);
}

/** A shape with the names of such values followed, as far as they lead; each name once. */
export function resolvedShape(spec: Spec, shape: JsonMap): JsonMap {
  let resolved = shape;
  const seen = new Set<string>();
  while (typeof resolved.resource === 'string' && !seen.has(resolved.resource)) {
    seen.add(resolved.resource);
    const inner = valueShape(spec, resolved.resource);
    if (inner === undefined) return resolved;
    const { resource: _name, ...beside } = resolved;
    resolved = { ...inner, ...beside };
  }
  return resolved;
}
