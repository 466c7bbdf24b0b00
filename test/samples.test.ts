import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonMap } from '../src/document/document.ts';
import { parseDocument } from '../src/index.ts';
import { chanceOf, type Ground, nothing } from '../src/parts/samples/sampler.ts';
import { Samples } from '../src/parts/samples/samples.ts';
import { toJsonSchema } from '../src/parts/schemas.ts';
import { readSpec } from '../src/parts/spec.ts';
import { createValidator } from '../src/serve/http/ajv.ts';
import { times } from './long.ts';

const resources: JsonMap = {
  person: {
    identifier: { field: 'id', generate: 'per_{ulid}' },
    fields: { id: 'string', name: { type: 'string', minLength: 3 }, nick: 'string' },
    required: ['id', 'name'],
  },
  node: {
    identifier: { $none: true },
    fields: { value: 'integer', next: { type: ['object', 'null'], oneOf: [{ type: 'node' }, { type: 'null' }] } },
    required: ['value', 'next'],
  },
  tree: {
    identifier: { $none: true },
    fields: { left: { shape: { anyOf: ['tree', 'string'] } }, pets: { type: ['pet'], minItems: 1 } },
    required: ['left', 'pets'],
  },
  pet: {
    identifier: { $none: true },
    fields: { kind: { const: 'dog' }, home: { shape: { oneOf: ['tree', 'integer'] } } },
    required: ['kind', 'home'],
  },
  endless: { identifier: { $none: true }, fields: { inner: 'endless' }, required: ['inner'] },
};
const spec = readSpec(parseDocument(JSON.stringify({ resources }), 'samples.json'));
const samples = new Samples(spec);
const validator = createValidator();

function ground(seed: string, told: string[] = []): Ground {
  return { seed, identifierOf: (resource) => `${resource}-1`, sampled: (path) => told.push(path) };
}

function violations(shape: JsonMap, value: unknown) {
  return validator.compile(toJsonSchema(spec, shape, 'shown'))(value);
}

/** Shapes of every sort: what is made fits by the validator that serves requests. */
const shapes: readonly JsonMap[] = [
  ...['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'].map((type) => ({ type })),
  {},
  { const: { a: [1] } },
  { enum: ['a', 2, false] },
  { enum: ['a', null] },
  { type: 'string', enum: [1, 'b', 'c'] },
  { type: 'string', pattern: '^adr_[a-f0-9]{10,}$' },
  { type: 'string', pattern: '^(?:GB\\d{2}|DE\\d{3})-[A-Z]+$', maxLength: 60 },
  { type: 'string', pattern: '^[0-9a-z_]+$', minLength: 1, maxLength: 8 },
  { type: 'string', pattern: '[^/]+/v1$', minLength: 30 },
  { type: 'string', minLength: 200 },
  { type: 'string', maxLength: 2 },
  ...['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uri-reference', 'uri-template'].map(
    (format) => ({ type: 'string', format }),
  ),
  ...[
    'uuid',
    'json-pointer',
    'relative-json-pointer',
    'regex',
    'ulid',
    'decimal',
    'currency',
    'country',
    'phone',
    'timezone',
  ].map((format) => ({ type: 'string', format })),
  { type: 'integer', format: 'unix-time' },
  { type: 'integer', minimum: 7, maximum: 7 },
  { type: 'integer', exclusiveMinimum: 7, multipleOf: 5 },
  { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
  { type: 'integer', maximum: -20 },
  { type: 'number', multipleOf: 0.25, minimum: 3.3 },
  { type: 'array', items: { type: 'integer' }, minItems: 3, uniqueItems: true },
  { type: 'array', prefixItems: [{ type: 'string' }, { const: 2 }], minItems: 3, items: { type: 'boolean' } },
  { type: 'array', contains: { const: 5 } },
  { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string', format: 'uuid' } } },
  { type: 'object', minProperties: 2, additionalProperties: { type: 'integer' } },
  { type: 'object', minProperties: 1, properties: { x: { const: 1 } }, additionalProperties: false },
  {
    allOf: [
      { type: 'object', required: ['a'] },
      { properties: { a: { type: 'integer', minimum: 4 } } },
      { properties: { a: { maximum: 4 } } },
    ],
  },
  { allOf: [{ resource: 'person' }], required: ['nick'] },
  {
    oneOf: [
      { type: 'integer', minimum: 0 },
      { type: 'number', maximum: 0 },
    ],
  },
  {
    anyOf: [
      { type: 'object', properties: { a: { type: 'object', required: ['b'] } }, required: ['a'] },
      { type: 'string', minLength: 4 },
    ],
  },
  { type: 'string', not: { enum: ['text'] } },
  { type: 'integer', minimum: 1, maximum: 2, not: { const: 1 } },
  {
    type: 'object',
    required: ['kind'],
    properties: { name: { type: 'string' } },
    anyOf: [{ properties: { kind: { const: 'x' } } }, { properties: { kind: { const: 'y' } } }],
  },
  { resource: 'person' },
  { resource: 'node' },
  { resource: 'tree' },
  { type: 'array', items: { resource: 'pet' }, minItems: 2 },
  { type: 'string', ref: 'person' },
];

test('what is sampled fits its shape, whatever the shape', () => {
  for (const shape of shapes) {
    for (const seed of ['1', '2', '3']) {
      const made = samples.of(shape, 'field').make(ground(seed), '');
      assert.notEqual(made, nothing, JSON.stringify(shape));
      assert.deepEqual(violations(shape, made), [], `${JSON.stringify(shape)} gave ${JSON.stringify(made)}`);
    }
  }
});

test('of listed words the one that is usual, or shown, is made', () => {
  const made = (shape: JsonMap) => ['1', '2', '3', '4'].map((seed) => samples.of(shape, 'way').make(ground(seed), ''));
  const words = ['in', 'out', 'both'];
  assert.deepEqual(made({ enum: words, example: 'out' }), ['out', 'out', 'out', 'out']);
  assert.deepEqual(made({ enum: words, default: 'both', example: 'out' }), ['both', 'both', 'both', 'both']);
  assert.ok(new Set(made({ enum: words, example: 'sideways' })).size > 1);
});

test('what is said to fit a shape does, by the validator that serves requests', () => {
  const values: readonly Json[] = [
    null,
    true,
    0,
    4,
    7,
    0.5,
    -20,
    'a',
    'text',
    '2026-01-01',
    '',
    [],
    [1, 1],
    [5],
    {},
    { a: 4 },
    { value: 1, next: null },
    { kind: 'x' },
  ];
  for (const shape of shapes)
    for (const value of values)
      if (samples.of(shape).fits(value))
        assert.deepEqual(violations(shape, value), [], `${JSON.stringify(shape)} and ${JSON.stringify(value)}`);
});

test('random shapes of random depth are met too', () => {
  const scalar = fc.oneof(
    fc.record({ type: fc.constant('integer'), minimum: fc.integer({ min: -9, max: 9 }) }),
    fc.record({ type: fc.constant('string'), minLength: fc.nat(30) }),
    fc.record({ type: fc.constantFrom('boolean', 'null', 'number', 'array', 'object') }),
    fc.record({ enum: fc.uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 4 }) }),
    fc.constantFrom({ resource: 'person' }, { resource: 'tree' }, { type: 'string', ref: 'person' }),
  );
  const { shape } = fc.letrec((tie) => ({
    shape: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('object'), tie('list'), tie('union'), tie('both')),
    object: fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('shape')),
      required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
    }),
    list: fc.record({ type: fc.constant('array'), items: tie('shape'), minItems: fc.nat(2) }),
    union: fc.record({ anyOf: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }) }),
    both: fc.record({ allOf: fc.tuple(tie('object'), tie('object')) }),
  }));
  fc.assert(
    fc.property(shape, fc.string(), (made, seed) => {
      // What letrec ties together are schemas.
      const drawn = made as JsonMap;
      const value = samples.of(drawn).make(ground(seed), '');
      if (value !== nothing) assert.deepEqual(violations(drawn, value), []);
    }),
    { numRuns: times(15, 60) },
  );
});

test('the same seed and path give the same value, another of either another', () => {
  const make = (seed: string, path: string) => samples.of({ type: 'string', format: 'uuid' }).make(ground(seed), path);
  assert.equal(make('1', '/a'), make('1', '/a'));
  assert.notEqual(make('1', '/a'), make('2', '/a'));
  assert.notEqual(make('1', '/a'), make('1', '/b'));
});

test('an example is taken where it fits, and never where it does not', () => {
  const make = (shape: JsonMap) => samples.of(shape, 'size').make(ground('1'), '');
  assert.equal(make({ type: 'string', example: 'large' }), 'large');
  assert.equal(make({ type: 'string', default: 'small', example: 'large' }), 'small');
  assert.equal(typeof make({ type: 'integer', example: '<width>x<height>' }), 'number');
  assert.notEqual(make({ type: 'string', maxLength: 3, examples: ['large'] }), 'large');
});

test('recursion ends by the shortest way, and where there is no end nothing is made', () => {
  const make = (shape: JsonMap) => samples.of(shape).make(ground('1'), '');
  assert.deepEqual({ ...(make({ resource: 'node' }) as object), value: 0 }, { value: 0, next: null });
  const { left, pets } = make({ resource: 'tree' }) as { left: unknown; pets: { home: unknown }[] };
  assert.equal(typeof left, 'string');
  assert.equal(typeof pets[0]?.home, 'number');
  assert.equal(make({ resource: 'endless' }), nothing);
  assert.equal(make({ type: 'object', properties: { a: { resource: 'endless' } }, required: ['a'] }), nothing);
});

test('a reference is the identifier of a row that is there; where none can be had, null if it may be', () => {
  const lonely: Ground = { ...ground('1'), identifierOf: () => undefined };
  assert.equal(samples.of({ type: 'string', ref: 'person' }).make(ground('1'), ''), 'person-1');
  assert.equal(samples.of({ type: 'string', ref: 'person' }).make(lonely, ''), nothing);
  assert.equal(samples.of({ type: ['string', 'null'], ref: 'person' }).make(lonely, ''), null);
});

test('what is given stays where it fits; only what is required and lacking is made, and told by its place', () => {
  const complete = (shape: JsonMap, given: Json) => {
    const told: string[] = [];
    return { value: samples.of(shape).complete(given, ground('1', told), ''), told };
  };
  assert.deepEqual(complete({ resource: 'person' }, { id: 'p', name: 'Ada' }), { value: { id: 'p', name: 'Ada' }, told: [] });
  const lacking = complete({ resource: 'person' }, { id: 'p', nick: 'A', extra: 1 });
  assert.deepEqual(lacking.told, ['/name']);
  assert.deepEqual(Object.keys(lacking.value as object), ['id', 'name', 'nick']);
  const list: JsonMap = {
    type: 'object',
    properties: { data: { type: 'array', items: { resource: 'person' } }, total: { type: 'integer' } },
    required: ['data', 'total'],
  };
  assert.deepEqual(complete(list, { data: [{ id: 'p' }, { id: 'q', name: 'Ada' }] }).told, ['/data/0/name', '/total']);
  assert.deepEqual(complete({ type: 'string' }, 7).told, ['']);
  const union: JsonMap = { anyOf: [{ resource: 'pet' }, { resource: 'person' }] };
  assert.deepEqual(complete(union, { id: 'p' }).told, ['/name']);
  assert.deepEqual(complete(union, { kind: 'dog' }).told, ['/home']);
  // What can be nothing else is not made up.
  assert.deepEqual(complete({ resource: 'pet' }, { home: 1 }).told, []);
});

test('identifiers follow the pattern, the format or the likeness of an example; numbers are counted', () => {
  const make = (field: Json, sequence: number) => {
    const text = JSON.stringify({
      resources: { thing: { identifier: { field: 'id' }, fields: { id: field }, required: ['id'] } },
    });
    const made = new Samples(readSpec(parseDocument(text, 'one.json'))).identifiers('thing');
    return String(made(chanceOf(`thing ${sequence}`), sequence));
  };
  assert.match(make({ type: 'string', pattern: '^adr_[a-z0-9]+$' }, 1), /^adr_[a-z0-9]+$/);
  assert.match(make({ type: 'string', format: 'uuid' }, 1), /^[\da-f]{8}-[\da-f]{4}-4/);
  assert.match(make({ type: 'string', example: 'ep_1srOrx2ZWZBpBUvZwXKQ' }, 1), /^ep_[A-Za-z0-9]{20}$/);
  assert.match(make({ type: 'string', example: '11446498' }, 1), /^[1-9]\d{7}$/);
  assert.match(make({ type: 'string', example: '479a1c79-3ba5-4a1e-9ae2-e45a6b8ffd0a' }, 1), /^[\da-f-]{36}$/);
  assert.match(make('string', 1), /^thing_[a-z0-9]{24}$/);
  assert.match(make({ type: 'string', maxLength: 8 }, 1), /^[a-z0-9]{8}$/);
  assert.equal(make('integer', 3), '3');
  assert.notEqual(make('string', 1), make('string', 2));
});

test('a text without a format is what the name of its field says', () => {
  const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
  const names: Readonly<Record<string, RegExp>> = {
    email: /^somebody-\w{4}@example\.com$/,
    work_e_mail: /^somebody-\w{4}@example\.com$/,
    site_url: /^https:\/\/example\.com\/\w{6}$/,
    avatarUrl: /^https:\/\/example\.com\/\w{6}$/,
    href: /^https:\/\/example\.com\/\w{6}$/,
    home_phone_number: /^\+49309018\d\d$/,
    country_code: /^DE$/,
    currency: /^eur$/,
    created_at: moment,
    cardExpiresAt: moment,
    trace_uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    order_id: /^\w{16}$/,
    orderIds: /^\w{16}$/,
  };
  const others = ['emailed', 'curl', 'linked', 'phonetics', 'countryside', 'currency_rate', 'Feat', 'squid', 'paid', 'format'];
  const all = [...Object.keys(names), ...others];
  const shape = { type: 'object', properties: Object.fromEntries(all.map((name) => [name, { type: 'string' }])), required: all };
  const made = samples.of(shape).make(ground('names'), '') as Readonly<Record<string, string>>;
  for (const [name, looks] of Object.entries(names)) assert.match(made[name] ?? '', looks, name);
  for (const name of others)
    for (const looks of Object.values(names)) assert.doesNotMatch(made[name] ?? '', looks, `${name} is ${made[name]}`);
});
