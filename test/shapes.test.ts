import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonMap } from '../src/document/document.ts';
import { parseDocument } from '../src/index.ts';
import { schemaWords } from '../src/parts/forms/shape.ts';
import { expand } from '../src/parts/shape.ts';
import { levelOf } from '../src/parts/shape-level.ts';
import {
  alternativesOf,
  besideNull,
  branchesOf,
  conjunctsOf,
  eachInside,
  fitsAll,
  fitsAny,
  fitsOne,
  hasMeaning,
  inForce,
  innerOf,
  isComposed,
  mapInner,
  orNull,
  someInside,
  unionOf,
  unionsOf,
} from '../src/parts/shapes/branches.ts';
import { holdingOf, keywords } from '../src/parts/shapes/keywords.ts';
import { newAjv } from '../src/parts/shapes/validators.ts';
import { readSpec } from '../src/parts/spec.ts';

test('the table has every keyword that the form of a shape has, holding schemas in the same way', () => {
  // Words of this language, and one of OpenAPI that points at members of a value.
  const own = new Set(['ref', 'shape', 'discriminator']);
  for (const [word, form] of Object.entries(schemaWords)) {
    if (own.has(word)) continue;
    assert.ok(keywords.has(word), word);
    assert.equal(holdingOf(word), holdingIn(form as unknown as JsonMap), word);
  }
});

/** What the form of a keyword says that stands under it. */
function holdingIn(form: JsonMap): string | undefined {
  const isShape = (value: unknown) => JSON.stringify(value ?? {}).includes('"$ref":"#/$defs/shape"');
  if (!isShape(form)) return undefined;
  if (form.$ref !== undefined) return 'schema';
  return form.type === 'array' ? 'schemas' : 'schema map';
}

test('what stands inside a schema is found under whichever keyword holds it, values that look like schemas aside', () => {
  const shape: JsonMap = {
    properties: { a: { type: 'string' } },
    prefixItems: [{ minimum: 1 }, true],
    not: { const: 2 },
    const: { properties: { b: { type: 'null' } } },
    enum: [{ items: {} }],
    items: false,
  };
  assert.deepEqual(
    innerOf(shape).map(({ keyword, key, schema }) => [keyword, key, schema]),
    [
      ['properties', 'a', { type: 'string' }],
      ['prefixItems', 0, { minimum: 1 }],
      ['prefixItems', 1, true],
      ['not', undefined, { const: 2 }],
      ['items', undefined, false],
    ],
  );
});

test('mapping a keyword keeps what holds no schema as it is, and names such as __proto__', () => {
  const count = (value: unknown): unknown => (typeof value === 'object' ? 'seen' : value);
  assert.equal(mapInner<unknown>('const', { a: 1 }, count) === 'seen', false);
  assert.equal(mapInner<unknown>('items', {}, count), 'seen');
  assert.deepEqual(mapInner<unknown>(['all', 'Of'].join(''), [{}, true], count), ['seen', true]);
  const named = mapInner<unknown>('properties', JSON.parse('{"__proto__":{},"b":false}'), count) as object;
  assert.deepEqual(Object.entries(named), [
    ['__proto__', 'seen'],
    ['b', false],
  ]);
  assert.deepEqual(mapInner<unknown>('definitions', { a: {} }, count), { a: {} });
  assert.deepEqual({ ...(mapInner<unknown>('definitions', { a: {} }, count, true) as object) }, { a: 'seen' });
});

test('a shape is looked into at any depth, and what it names elsewhere is not', () => {
  const deep: JsonMap = {
    items: { ...fitsAny<JsonMap>([{ type: 'null' }, { resource: 'parcel', default: { resource: 'x' } }]) },
  };
  const seen: unknown[] = [];
  eachInside(deep, ({ resource }) => seen.push(resource));
  assert.deepEqual(seen, [undefined, undefined, undefined, 'parcel']);
  assert.ok(someInside(deep, ({ resource }) => resource === 'parcel'));
  assert.ok(!someInside(deep, ({ resource }) => resource === 'x'));
});

test('alternatives and conjuncts are told apart, and exclusive alternatives from others', () => {
  const [one, any, all] = [{ type: 'string' }, { type: 'null' }, { minLength: 1 }];
  const shape = { ...fitsOne<JsonMap>([one]), ...fitsAny<JsonMap>([any]), ...fitsAll<JsonMap>([all]) };
  assert.deepEqual(conjunctsOf<object>(shape), [all]);
  assert.deepEqual(alternativesOf<object>(shape), [one, any]);
  assert.deepEqual(branchesOf<object>(shape), [one, any, all]);
  assert.deepEqual(
    unionsOf<unknown>(shape).map(({ isExclusive, branches }) => [isExclusive, branches]),
    [
      [true, [one]],
      [false, [any]],
    ],
  );
  assert.equal(unionOf<unknown>({ type: 'string' }), undefined);
  assert.ok(hasMeaning({ if: {} }, 'condition') && !hasMeaning({ else: {} }, 'condition'));
  assert.ok(isComposed({ $ref: '#' }) && !isComposed({ properties: {}, enum: [] }));
});

test('a resource that may be null is told from any other alternatives', () => {
  const parcel: JsonMap = { resource: 'parcel' };
  assert.deepEqual(besideNull(orNull(parcel)), parcel);
  for (const other of [
    fitsAny<JsonMap>([parcel, { type: 'null' }]),
    fitsOne<JsonMap>([parcel]),
    fitsOne<JsonMap>([parcel, parcel]),
  ])
    assert.equal(besideNull(other), undefined);
});

test('schemas that name each other in a circle come to an end', () => {
  const definitions: Record<string, JsonMap> = {
    a: { $ref: 'b', properties: { x: {} } },
    b: fitsAll<JsonMap>([{ $ref: 'a' }, { properties: { y: {} } }]),
  };
  const made = inForce<JsonMap>({ $ref: 'a' }, (ref) => definitions[ref]);
  assert.deepEqual(
    made.flatMap(({ properties }) => Object.keys(properties ?? {})),
    ['x', 'y'],
  );
  const endless = (ref: string): JsonMap => ({ $ref: `${ref}+` });
  assert.ok(inForce<JsonMap>({ $ref: '' }, endless).length <= 1000);
});

test('a level has the fields of a resource, the members of a value that is one, and what has to fit besides', () => {
  const resources = {
    parcel: { fields: { id: 'string', size: { type: 'size', writeOnly: true } } },
    size: { shape: { type: 'object', properties: { height: 'integer' }, additionalProperties: 'number', anyOf: ['parcel'] } },
  };
  const spec = readSpec(parseDocument(JSON.stringify({ resources }), 'level.json'));
  const parcel = levelOf(spec, { resource: 'parcel' });
  assert.deepEqual(
    parcel.members.map(({ name, field }) => [name, field?.writeOnly]),
    [
      ['id', false],
      ['size', true],
    ],
  );
  const { members, rest, items, branches } = levelOf(spec, { resource: 'size' });
  assert.deepEqual(
    members.map(({ name, shape, field }) => [name, shape.type, field]),
    [['height', 'integer', undefined]],
  );
  assert.deepEqual([rest?.type, items, branches.map(({ resource }) => resource)], ['number', undefined, ['parcel']]);
  assert.deepEqual(levelOf(spec, { resource: 'nobody' }).members, []);
  assert.equal(levelOf(spec, { items: { type: 'null' } }).items?.type, 'null');
});

test('formats and multiples mean the same wherever ajv is set up', () => {
  const validate = newAjv().compile({
    properties: { at: { format: 'time' }, price: { multipleOf: 0.01 }, in: { format: 'country' } },
  });
  assert.ok(validate({ at: '10:00:00+01:00', price: 19.99, in: 'DE' }));
  for (const wrong of [{ at: '10:00:00+01' }, { price: 19.999 }, { in: 'Germany' }])
    assert.ok(!validate(wrong), JSON.stringify(wrong));
});

/** What may be written for a shape, and the shape that it is. */
const written: readonly (readonly [Json, JsonMap | undefined])[] = [
  ['string', { type: 'string' }],
  ['string?', { type: ['string', 'null'] }],
  ['parcel', { resource: 'parcel' }],
  ['parcel?', { oneOf: [{ resource: 'parcel' }, { type: 'null' }] }],
  [['parcel'], { type: 'array', items: { resource: 'parcel' } }],
  [['string', 'integer'], undefined],
  [[], undefined],
  [true, {}],
  [false, { not: {} }],
  [null, undefined],
  [7, undefined],
  [{ $open: 'Which?' }, {}],
  [{ $any: true }, {}],
  [{ $none: true }, {}],
  [{ shape: 'string' }, { type: 'string' }],
  [{ additionalProperties: false }, { additionalProperties: false }],
  [{ properties: { a: true, b: false } }, { properties: { a: {}, b: { not: {} } } }],
  [{ enum: ['a', 'b'] }, { enum: ['a', 'b'], type: 'string' }],
  [{ enum: ['a', 1] }, { enum: ['a', 1], type: ['string', 'integer'] }],
  [
    { enum: ['a'], type: 'string?' },
    { enum: ['a', null], type: ['string', 'null'] },
  ],
  [
    { enum: ['a', null], type: 'string?' },
    { enum: ['a', null], type: ['string', 'null'] },
  ],
  [
    { type: 'parcel', description: 'x' },
    { resource: 'parcel', description: 'x' },
  ],
  [
    { type: ['parcel'], minItems: 1 },
    { type: 'array', items: { resource: 'parcel' }, minItems: 1 },
  ],
  [{ ref: 'parcel' }, { ref: 'parcel' }],
  [{ ref: 'parcel?' }, { ref: 'parcel', type: ['string', 'null'] }],
  [
    { ref: 'parcel', type: 'string?' },
    { ref: 'parcel', type: ['string', 'null'] },
  ],
];

for (const [value, shape] of written) {
  test(`written ${JSON.stringify(value)}, a shape is ${JSON.stringify(shape) ?? 'none'}`, () => {
    const found = expand(value);
    assert.deepEqual(found === undefined ? undefined : JSON.parse(JSON.stringify(found)), shape);
  });
}
