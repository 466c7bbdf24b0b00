import type { Json, JsonMap } from '../document/document.ts';
import { entriesOf, entryOf, statedValue } from './fact.ts';
import type { Resource } from './resources.ts';
import { eachInside } from './shapes/inner.ts';
import type { Spec } from './spec.ts';

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
