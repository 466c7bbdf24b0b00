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
  if (endless.size === 0) return [];
  const needs = new Map([...endless].map((name) => [name, fieldsHolding(resources.get(name), endless)] as const));
  const rings = ringsOf(new Map([...needs].map(([name, fields]) => [name, fields.flatMap(({ held }) => held)])));
  return [...needs].flatMap(([name, fields]) =>
    fields
      .filter(({ held }) => held.some((inner) => rings.get(inner) === rings.get(name)))
      .map(({ field }) => ({
        message: `Every \`${name}\` holds another one in \`${field.name}\`, without an end.`,
        at: field.at,
        onKey: true,
      })),
  );
}

/** The required fields of a resource whose values hold endless ones, and which. */
function fieldsHolding(
  resource: Resource | undefined,
  endless: ReadonlySet<string>,
): { readonly field: Field; readonly held: readonly string[] }[] {
  if (resource === undefined) return [];
  return requiredFields(resource).flatMap((field) => {
    const held = heldBy(field, endless);
    return held.length > 0 ? [{ field, held }] : [];
  });
}

/** The resources that are left when those that can end are taken away; when one is, those that name it are looked at again. */
function endlessOf(resources: ReadonlyMap<string, Resource>): ReadonlySet<string> {
  const endless = new Set(resources.keys());
  const named = new Map<string, string[]>();
  const fields = new Map([...resources].map(([name, resource]) => [name, requiredFields(resource)] as const));
  for (const [name, required] of fields) {
    for (const inner of new Set(required.flatMap((field) => heldBy(field, endless)))) {
      const known = named.get(inner);
      if (known) known.push(name);
      else named.set(inner, [name]);
    }
  }
  const queue = [...resources.keys()];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (!endless.has(name) || fields.get(name)?.some((field) => heldBy(field, endless).length > 0)) continue;
    endless.delete(name);
    queue.push(...(named.get(name) ?? []).filter((one) => endless.has(one)));
  }
  return endless;
}

function requiredFields(resource: Resource): Field[] {
  return entriesOf(resource.fields).flatMap(([, field]) => (statedValue(field.required) === true ? [field] : []));
}

/** Which ring each name is in, by a number: two names of one ring lead to each other (Tarjan's strongly connected components). */
function ringsOf(needs: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, number> {
  const rings = new Map<string, number>();
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  for (const start of needs.keys()) {
    if (order.has(start)) continue;
    const path: { readonly name: string; next: number }[] = [];
    const enter = (name: string): void => {
      order.set(name, order.size);
      lowest.set(name, order.size - 1);
      open.push(name);
      path.push({ name, next: 0 });
    };
    enter(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { name } = top;
      const inner = needs.get(name)?.[top.next];
      top.next += 1;
      if (inner !== undefined) {
        if (!order.has(inner)) enter(inner);
        else if (!rings.has(inner)) lower(lowest, name, order.get(inner));
        continue;
      }
      path.pop();
      const around = path.at(-1)?.name;
      if (around !== undefined) lower(lowest, around, lowest.get(name));
      if (lowest.get(name) !== order.get(name)) continue;
      for (const one of open.splice(open.lastIndexOf(name))) rings.set(one, order.get(name) ?? 0);
    }
  }
  return rings;
}

function lower(lowest: Map<string, number>, name: string, to: number | undefined): void {
  if (to !== undefined && to < (lowest.get(name) ?? 0)) lowest.set(name, to);
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
