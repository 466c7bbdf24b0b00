import fc from 'fast-check';
import { type Chance, chanceOf } from '../../bench/drawn/chance.ts';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { compileDefaults } from '../../src/parts/defaults.ts';
import { typeName } from '../../src/parts/expressions/cel-type.ts';
import { compileExpression } from '../../src/parts/expressions/compile.ts';
import { everywhere, scopeOf } from '../../src/parts/expressions/scope.ts';
import { isSaidByType, typeOfShape } from '../../src/parts/expressions/shape-type.ts';
import { Samples } from '../../src/parts/samples/samples.ts';
import { toJsonSchema, toNamingSchema } from '../../src/parts/schemas.ts';
import { compileWithoutAbsent, levelOf, resolvedShape, resourcesIn } from '../../src/parts/shape-level.ts';
import {
  branchesOf,
  conjunctsOf,
  inForce,
  innerOf,
  orNull,
  unionOf,
  withoutConjunction,
} from '../../src/parts/shapes/branches.ts';
import { readSpec } from '../../src/parts/spec.ts';
import { read } from '../check/harness.ts';
import { generatedHistory } from '../versioning/generated-history.ts';
import { digest, type Line } from './approval.ts';
import { editAt, edited, sitesOf } from './edits.ts';
import { carried } from './made.ts';
import { grounds } from './spoken.ts';

/** Shapes that are drawn, what is made of them and what they are taken for; and drawn histories of documents. */
export function* drawnShapes(): Generator<Line> {
  for (let line = 0; line < 60; line++) {
    const chance = chanceOf(line);
    yield [`shapes.${line}`, digest(Array.from({ length: 12 }, (_one, at) => shapeSaid(chance, `${line} ${at}`)))];
  }
  for (const [at, { text }] of fc.sample(generatedHistory, { numRuns: 40, seed: 7 }).entries()) {
    const spec = readSpec(read(text, 'history.json'));
    yield [`history.${at}`, digest(carried(spec, at))];
  }
}

const spec = readSpec(
  read(`
resources:
  person: { identifier: { field: id, generate: "per_{ulid}" }, fields: { id: string, name: { type: string, minLength: 3 }, size: { type: integer, default: 4 } }, required: [id, name] }
  pet: { identifier: none, fields: { kind: { enum: [dog, cat], default: dog }, owner: { ref: person }, inner: pet }, required: [kind] }
  fish: { identifier: none, fields: { kind: { const: fish }, length_m: number, names: { type: array, items: string } }, required: [kind, names] }
`),
);
const samples = new Samples(spec);

const formats = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'uri',
  'uuid',
  'decimal',
  'currency',
  'timezone',
];

/** The words of one shape, by how deep it may still go. */
export function shapeOf(chance: Chance, depth: number, hasResources = true): JsonMap {
  const inner = (): JsonMap => shapeOf(chance, depth - 1, hasResources);
  const members = () => Object.fromEntries(['a', 'b', 'c'].slice(0, chance.between(1, 3)).map((name) => [name, inner()]));
  const bound = (most: number) => chance.between(-2, most);
  const named = [() => ({ resource: chance.one(['person', 'pet', 'fish']) }), () => ({ ref: 'person' })];
  const leaves = [...leavesOf(chance, bound), ...(hasResources ? named : [])];
  if (depth === 0) return chance.one(leaves)();
  return chance.one([
    ...leaves,
    () => ({ type: 'object', properties: members(), required: chance.one([[], ['a'], ['a', 'b'], ['d']]) }),
    () => ({
      type: 'object',
      properties: members(),
      additionalProperties: chance.one<Json>([false, inner()]),
      minProperties: bound(3),
    }),
    () => ({ type: 'object', patternProperties: { '^x': inner() }, maxProperties: chance.between(0, 3) }),
    () => ({ type: 'object', properties: { a: { type: 'string', default: 'd' }, b: { default: 1, ...inner() } } }),
    () => ({
      type: 'array',
      items: inner(),
      minItems: bound(3),
      maxItems: chance.between(2, 5),
      uniqueItems: chance.between(0, 2) === 0,
    }),
    () => ({ type: 'array', prefixItems: [inner(), inner()], items: chance.one<Json>([false, inner()]) }),
    () => ({ type: 'array', contains: inner(), minContains: chance.between(0, 2) }),
    () => ({ oneOf: [inner(), inner()] }),
    () => ({ anyOf: [inner(), { type: 'null' }] }),
    () => ({ allOf: [inner(), inner()] }),
    () => ({ ...inner(), not: inner() }),
    () => ({ ...inner(), ...Object.fromEntries(['if', 'then', 'else'].map((word) => [word, inner()])) }),
    () => ({ ...inner(), examples: [chance.one<Json>(['a', 1, null, { a: 'b' }])] }),
    () => ({ ...inner(), default: chance.one<Json>(['a', 1, null]) }),
  ])();
}

/** A shape that holds no other. */
function leavesOf(chance: Chance, bound: (most: number) => number): readonly (() => JsonMap)[] {
  return [
    () => ({ type: 'string', minLength: bound(4), maxLength: chance.between(4, 9) }),
    () => ({ type: 'string', format: chance.one(formats) }),
    () => ({ type: 'string', pattern: chance.one(['^a+$', '^[A-Z]{2}-\\d{3}$', 'b', '^(x|yy)?$']) }),
    () => ({ type: chance.one(['integer', 'number']), minimum: bound(5), maximum: chance.between(5, 40) }),
    () => ({ type: 'integer', exclusiveMinimum: bound(9), multipleOf: chance.between(1, 7) }),
    () => ({ type: 'number', exclusiveMaximum: bound(9) }),
    () => ({ type: chance.one(['boolean', 'null', 'object', 'array', 'string', 'integer']) }),
    () => ({ type: [chance.one(['string', 'integer', 'boolean']), 'null'] }),
    () => ({ enum: chance.one<readonly Json[]>([['a', 'b'], [1, null], [true, 'x', 2.5], [{ a: 1 }]]) }),
    () => ({ const: chance.one<Json>(['a', 3, null, { a: [1] }, []]) }),
    () => ({}),
  ];
}

function shapeSaid(chance: Chance, seed: string): unknown[] {
  const shape = shapeOf(chance, 3);
  const sampler = samples.of(shape, chance.one(['', 'name', 'email', 'count', 'created_at']));
  const values = grounds.map((ground) => sampler.make({ ...ground, seed: `${ground.seed} ${seed}` }, '/it'));
  const sites = values.flatMap((value) => (typeof value === 'object' && value !== null ? sitesOf(value as Json) : []));
  const wrong =
    sites.length === 0 ? [] : [1, 2, 3].map(() => edited(values[0] as JsonMap, [editAt(chance.one(sites), sites, chance)]));
  const others: Json[] = [
    'a',
    'AB-123',
    '',
    3,
    -7,
    0.5,
    true,
    null,
    [],
    ['a', 'a'],
    {},
    { a: 'b', b: 2 },
    { kind: 'cat', xa: 1 },
  ];
  const all = [...values, ...wrong, ...others];
  const drop = compileWithoutAbsent(spec, shape);
  const seen = scopeOf({ ...everywhere, value: { shape } });
  const told = ['value', 'value.a', 'size(value)', 'value == value'].map((source) => {
    const compiled = compileExpression(spec, { source, scope: seen, expected: { shape, optional: true } });
    return [compiled.reads, [...values, ...others].map((value) => compiled.evaluate({ value } as never))];
  });
  return [
    [shape, sampler.cost, sampler.isFixed, values],
    all.map((value) => sampler.fits(value)),
    [...wrong, ...others].map((value) => sampler.complete(value, grounds[1]!, '')),
    (['sent', 'stored', 'shown'] as const).map((use) => [toJsonSchema(spec, shape, use), toNamingSchema(spec, shape, use)]),
    [levelOf(spec, shape), resolvedShape(spec, shape), [...resourcesIn(shape)], samples.whole(shape), orNull(shape)],
    [
      branchesOf(shape),
      conjunctsOf(shape),
      unionOf(shape),
      innerOf(shape),
      withoutConjunction(shape),
      inForce(shape, () => undefined),
    ],
    [typeName(typeOfShape(spec, shape)), isSaidByType(shape), all.map((value) => changedCopy(value, drop))],
    [all.map((value) => changedCopy(value, compileDefaults(spec, shape))), told],
  ];
}

/** What a function that works in place, or gives back, makes of a copy of a value. */
function changedCopy(value: unknown, change: unknown): unknown {
  if (typeof change !== 'function' || typeof value === 'symbol') return value;
  const copy = structuredClone(value);
  const given: unknown = change(copy);
  return [copy, given];
}
