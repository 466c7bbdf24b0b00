import type { Json } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import { isComposed, unionsOf } from '../../parts/shapes/branches.ts';
import { typesOf } from '../subject/json-types.ts';
import { type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

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
