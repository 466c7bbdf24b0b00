import type { Json } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import { isComposed, unionsOf } from '../../parts/shapes/branches.ts';
import { typesOf } from '../subject/json-types.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

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

/** Unions whose alternatives cannot be told apart. */
export const unionRules: readonly Rule[] = [
  warning(
    'shapes/ambiguous-union',
    'Nothing tells two alternatives of a `oneOf` apart, so a value may fit both and be refused.',
    'Give each a required property with a `const` of its own.',
    ({ shapeNodes, resources }) =>
      shapeNodes.flatMap(({ schema, at }) => {
        const union = unionsOf(schema).find(({ isExclusive }) => isExclusive);
        if (!union) return [];
        const kinds = union.branches.map((alternative) => kindOf(alternative, resources));
        return alike(kinds, below(at, union.keyword));
      }),
  ),
];

/** What is known of an alternative that is an object. */
interface Kind {
  readonly name: string;
  readonly properties: ReadonlyMap<string, Shape>;
  readonly required: ReadonlySet<string>;
  readonly closed: boolean;
}

function kindOf(alternative: Json, resources: Subject['resources']): Kind | undefined {
  if (!isMap(alternative)) return undefined;
  const resource = typeof alternative.resource === 'string' ? resources.get(alternative.resource) : undefined;
  if (resource) {
    if (!isStated(resource.fields)) return undefined;
    const fields = entriesOf(resource.fields);
    return {
      name: `\`${resource.name}\``,
      properties: new Map(fields.map(([name, { shape }]) => [name, statedValue(shape) ?? {}])),
      required: new Set(fields.filter(([, field]) => statedValue(field.required)).map(([name]) => name)),
      closed: !resource.additionalProperties,
    };
  }
  if (!typesOf(alternative)?.has('object') || !isMap(alternative.properties)) return undefined;
  if (isComposed(alternative)) return undefined;
  return {
    name: 'an object',
    properties: new Map(Object.entries(alternative.properties).map(([name, shape]) => [name, isMap(shape) ? shape : {}])),
    required: new Set(Array.isArray(alternative.required) ? alternative.required.filter((name) => typeof name === 'string') : []),
    closed: alternative.additionalProperties === false,
  };
}

function alike(kinds: readonly (Kind | undefined)[], at: string): Wrong[] {
  const word = tellingWord(kinds);
  const byValue = new Map<string, number[]>();
  const without: number[] = [];
  let left = comparisonsMost;
  return kinds.flatMap((one, index) => {
    if (one === undefined) return [];
    const values = word === undefined ? undefined : tellingValues(one, word);
    const before = values ? [...values.flatMap((value) => byValue.get(value) ?? []), ...without] : range(index);
    const first = before
      .toSorted((a, b) => a - b)
      .find((place) => {
        const other = kinds[place];
        left -= 1;
        return left >= 0 && other !== undefined && !isApart(one, other);
      });
    if (values === undefined) without.push(index);
    for (const value of values ?? []) byValue.set(value, [...(byValue.get(value) ?? []), index]);
    const other = first === undefined ? undefined : kinds[first];
    if (first === undefined || other === undefined) return [];
    const message = `Nothing tells this alternative, ${one.name}, from ${other.name}, the ${ordinal(first)}.`;
    return [{ message, at: below(at, index), also: [{ message: 'It may also be this one.', at: below(at, first) }] }];
  });
}

/** Each alternative of a union is held to the others; of one with thousands that nothing tells apart, not to all. */
const comparisonsMost = 100_000;

/** The required member whose listed values tell most alternatives: only those that share a value of it have to be held to each other. */
function tellingWord(kinds: readonly (Kind | undefined)[]): string | undefined {
  const counts = new Map<string, number>();
  for (const kind of kinds) {
    for (const word of kind?.required ?? [])
      if (valuesOf(kind?.properties.get(word))) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

function tellingValues(kind: Kind, word: string): string[] | undefined {
  return kind.required.has(word) ? valuesOf(kind.properties.get(word)) : undefined;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}

function ordinal(index: number): string {
  return ['first', 'second', 'third', 'fourth', 'fifth'][index] ?? `one at ${index + 1}`;
}

function isApart(a: Kind, b: Kind): boolean {
  return lacks(a, b) || lacks(b, a) || [...a.required].some((name) => b.required.has(name) && differ(a, b, name));
}

/** Whether one requires what the other cannot have. */
function lacks(a: Kind, b: Kind): boolean {
  return b.closed && [...a.required].some((name) => !b.properties.has(name));
}

function differ(a: Kind, b: Kind, name: string): boolean {
  const left = valuesOf(a.properties.get(name));
  const right = valuesOf(b.properties.get(name));
  if (left && right) return !left.some((value) => right.includes(value));
  const types = [typesOf(a.properties.get(name) ?? {}), typesOf(b.properties.get(name) ?? {})] as const;
  return types[0] !== undefined && types[1] !== undefined && !overlap(types[0], types[1]);
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const isNumber = (types: ReadonlySet<string>): boolean => types.has('number') || types.has('integer');
  return [...a].some((type) => b.has(type)) || (isNumber(a) && isNumber(b));
}

function valuesOf(shape: Shape | undefined): string[] | undefined {
  if (shape?.const !== undefined) return [JSON.stringify(shape.const)];
  return Array.isArray(shape?.enum) ? shape.enum.map((value) => JSON.stringify(value)) : undefined;
}
