import type { Json } from '../../document/document.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { Resource } from '../../parts/resources.ts';
import { isMap } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';

/** The resources that the fields of a resource speak of, whole or by reference. */
export function mentionedIn(resource: Resource): ReadonlySet<string> {
  return new Set(
    entriesOf(resource.fields).flatMap(([, { shape, show, ref }]) => [
      ...wholeIn(statedValue(shape)),
      ...(typeof show === 'object' ? wholeIn(show) : []),
      ...(ref === undefined ? [] : [ref]),
    ]),
  );
}

/** Whether a resource has, at any depth, a field that is handed on and never kept. */
export function passesThrough(spec: Spec, name: string): boolean {
  const reached = new Set([name]);
  // What is added while this goes on is visited too.
  for (const one of reached) {
    const resource = entryOf(spec.resources.all, one);
    for (const [, { stored, shape }] of resource ? entriesOf(resource.fields) : []) {
      if (!stored) return true;
      for (const inner of wholeIn(statedValue(shape))) reached.add(inner);
    }
  }
  return false;
}

function wholeIn(shape: Json | undefined): string[] {
  if (typeof shape !== 'object' || shape === null) return [];
  const own = isMap(shape) && typeof shape.resource === 'string' ? [shape.resource] : [];
  return [...own, ...Object.values(shape).flatMap(wholeIn)];
}
