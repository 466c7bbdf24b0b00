import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { unionsOf } from '../../parts/shapes/branches.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';

/** Resources that hold themselves without an end. */
export const recursionRules: readonly Rule[] = [
  error(
    'shapes/never-ends',
    'A required field holds its own resource, so no value of it can end.',
    'Take the field out of `required`, or let it be null: `parcel?`.',
    neverEnding,
  ),
];

function neverEnding({ resources }: Subject): Wrong[] {
  const endless = endlessOf(resources);
  return [...endless].flatMap((name) => {
    const resource = resources.get(name) as Resource;
    return requiredFields(resource)
      .filter((field) => {
        const held = heldBy(field, endless);
        return held.length > 0 && held.some((inner) => inner === name || reaches(inner, name, resources, endless));
      })
      .map((field) => ({
        message: `Every \`${name}\` holds another one in \`${field.name}\`, without an end.`,
        at: field.at,
        onKey: true,
      }));
  });
}

/** The resources that are left when those that can end are taken away, over and over. */
function endlessOf(resources: ReadonlyMap<string, Resource>): ReadonlySet<string> {
  const endless = new Set(resources.keys());
  for (let changed = true; changed; ) {
    changed = false;
    for (const name of endless) {
      const resource = resources.get(name) as Resource;
      if (requiredFields(resource).some((field) => heldBy(field, endless).length > 0)) continue;
      endless.delete(name);
      changed = true;
    }
  }
  return endless;
}

function requiredFields(resource: Resource): Field[] {
  return entriesOf(resource.fields).flatMap(([, field]) => (statedValue(field.required) === true ? [field] : []));
}

function reaches(from: string, to: string, resources: ReadonlyMap<string, Resource>, endless: ReadonlySet<string>): boolean {
  const seen = new Set<string>();
  const queue = [from];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (name === to) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    const resource = resources.get(name);
    if (resource) queue.push(...requiredFields(resource).flatMap((field) => heldBy(field, endless)));
  }
  return false;
}

/** The endless resources that every value of a field holds. */
function heldBy(field: Field, endless: ReadonlySet<string>): string[] {
  return held(statedValue(field.shape), endless);
}

function held(shape: Json | undefined, endless: ReadonlySet<string>): string[] {
  if (!isMap(shape)) return [];
  if (typeof shape.resource === 'string') return endless.has(shape.resource) ? [shape.resource] : [];
  for (const { branches } of unionsOf(shape)) {
    const each = branches.map((branch) => held(branch, endless));
    if (each.length > 0 && each.every((names) => names.length > 0)) return each.flat();
  }
  if (Array.isArray(shape.type)) return [];
  if (shape.type === 'array') return typeof shape.minItems === 'number' && shape.minItems > 0 ? held(shape.items, endless) : [];
  const { properties, required } = shape;
  if (!isMap(properties) || !Array.isArray(required)) return [];
  return required.flatMap((name) => (typeof name === 'string' ? held(properties[name], endless) : []));
}
