import type { Json } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import type { Shape } from '../shape.ts';
import { isMap } from '../source.ts';

type Fits = (value: unknown) => boolean;
type Of = (shape: Json) => Fits;

/** The tests of lists and objects that a shape asks for; each passes what it is not about. */
export function compileMembers(shape: Shape, of: Of): Fits[] {
  return [...ofLists(shape, of), ...ofObjects(shape, of)];
}

function ofLists(shape: Shape, of: Of): Fits[] {
  const tests: Fits[] = [];
  const list = (test: (value: readonly unknown[]) => boolean) => tests.push((value) => !Array.isArray(value) || test(value));
  const { minItems, maxItems } = shape;
  if (typeof minItems === 'number') list((value) => value.length >= minItems);
  if (typeof maxItems === 'number') list((value) => value.length <= maxItems);
  if (shape.uniqueItems === true)
    list((value) => value.every((one, at) => !value.slice(0, at).some((other) => isSame(one, other))));
  const first = Array.isArray(shape.prefixItems) ? shape.prefixItems.map(of) : [];
  if (first.length > 0) list((value) => first.every((fits, at) => at >= value.length || fits(value[at])));
  if (shape.items !== undefined) {
    const item = of(shape.items);
    list((value) => value.every((one, at) => at < first.length || item(one)));
  }
  if (shape.contains !== undefined) {
    const contained = of(shape.contains);
    const least = typeof shape.minContains === 'number' ? shape.minContains : 1;
    const most = typeof shape.maxContains === 'number' ? shape.maxContains : Number.POSITIVE_INFINITY;
    list((value) => {
      const count = value.filter((one) => contained(one)).length;
      return count >= least && count <= most;
    });
  }
  return tests;
}

function ofObjects(shape: Shape, of: Of): Fits[] {
  const tests: Fits[] = [];
  const object = (test: (value: Readonly<Record<string, unknown>>) => boolean) =>
    // An object that is no list.
    tests.push((value) => !isObject(value) || test(value));
  const { minProperties, maxProperties } = shape;
  const required = Array.isArray(shape.required) ? shape.required.map(String) : [];
  const members = Object.entries(isMap(shape.properties) ? shape.properties : {}).map(
    ([name, inner]) => [name, of(inner)] as const,
  );
  const patterns = Object.entries(isMap(shape.patternProperties) ? shape.patternProperties : {}).map(
    ([pattern, inner]) => [new RegExp(pattern, 'u'), of(inner)] as const,
  );
  if (required.length > 0) object((value) => required.every((name) => Object.hasOwn(value, name)));
  if (members.length > 0) object((value) => members.every(([name, fits]) => !Object.hasOwn(value, name) || fits(value[name])));
  if (typeof minProperties === 'number') object((value) => Object.keys(value).length >= minProperties);
  if (typeof maxProperties === 'number') object((value) => Object.keys(value).length <= maxProperties);
  if (shape.propertyNames !== undefined) {
    const named = of(shape.propertyNames);
    object((value) => Object.keys(value).every((name) => named(name)));
  }
  for (const [pattern, fits] of patterns)
    object((value) => Object.entries(value).every(([name, inner]) => !pattern.test(name) || fits(inner)));
  const { additionalProperties } = shape;
  if (additionalProperties !== undefined && additionalProperties !== true) {
    const rest = of(additionalProperties);
    const known = new Set(members.map(([name]) => name));
    object((value) =>
      Object.entries(value).every(
        ([name, inner]) => known.has(name) || patterns.some(([pattern]) => pattern.test(name)) || rest(inner),
      ),
    );
  }
  return tests;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
