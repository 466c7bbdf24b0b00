import type { Json } from '../../document/document.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { isMap } from '../../parts/source.ts';

/** Which resources speak of each one in their fields, as a whole or by reference. */
export function speakersOf(resources: readonly Resource[]): ReadonlyMap<string, readonly string[]> {
  return speakers(resources, ({ shape, show, ref }) => [
    ...wholeIn(statedValue(shape)),
    ...(typeof show === 'object' ? wholeIn(show) : []),
    ...(ref === undefined ? [] : [ref]),
  ]);
}

/** The resources that have, at any depth, a field that is handed on and never kept. */
export function passingResources(resources: readonly Resource[]): ReadonlySet<string> {
  const holders = speakers(resources, ({ shape }) => wholeIn(statedValue(shape)));
  const passing = resources.filter(({ fields }) => entriesOf(fields).some(([, { stored }]) => !stored));
  const reached = new Set(passing.map(({ name }) => name));
  // What is added while this goes on is visited too.
  for (const name of reached) for (const holder of holders.get(name) ?? []) reached.add(holder);
  return reached;
}

function speakers(
  resources: readonly Resource[],
  mentioned: (field: Field) => readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name, fields, shape } of resources) {
    const whole = shape === undefined ? [] : wholeIn(statedValue(shape));
    for (const target of new Set([...entriesOf(fields).flatMap(([, field]) => mentioned(field)), ...whole])) {
      const list = found.get(target);
      if (list) list.push(name);
      else found.set(target, [name]);
    }
  }
  return found;
}

function wholeIn(shape: Json | undefined): string[] {
  if (typeof shape !== 'object' || shape === null) return [];
  const own = isMap(shape) && typeof shape.resource === 'string' ? [shape.resource] : [];
  return [...own, ...Object.values(shape).flatMap(wholeIn)];
}
