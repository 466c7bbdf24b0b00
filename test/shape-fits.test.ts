import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonMap } from '../src/document/document.ts';
import { parseDocument } from '../src/index.ts';
import { Samples } from '../src/parts/samples/samples.ts';
import { readSpec } from '../src/parts/spec.ts';

/** Whether a value surely is of a shape, decided without a validator: what fits, and what does not, shape by shape. */
const resources: JsonMap = {
  person: {
    identifier: { field: 'id', generate: 'per_{ulid}' },
    fields: { id: 'string', name: { type: 'string', minLength: 3 } },
    required: ['id', 'name'],
  },
  counter: { identifier: { field: 'id', generate: 'sequence' }, fields: { id: 'integer' }, required: ['id'] },
  node: { identifier: { $none: true }, fields: { value: 'integer', next: 'node' }, required: ['value'] },
};
const spec = readSpec(parseDocument(JSON.stringify({ resources }), 'fits.json'));
const ann = { id: 'per_1', name: 'Ann' };

type Case = readonly [shape: Json, fit: readonly unknown[], others: readonly unknown[]];

const cases: readonly Case[] = [
  [true, [null, 1, 'a', {}], []],
  [{}, [null, 1, 'a', {}], []],
  [{ type: 'string' }, ['', 'a'], [null, 1, true, [], {}]],
  [{ type: 'integer' }, [0, -3, 2n ** 60n], [0.5, '1', null]],
  [{ type: 'number' }, [0.5, 2n], [Number.NaN, Number.POSITIVE_INFINITY, '1']],
  [{ type: 'boolean' }, [true, false], [0, 'true', null]],
  [{ type: 'object' }, [{}, { a: 1 }], [[], null, 'a']],
  [{ type: 'array' }, [[], [1]], [{}, 'a', null]],
  [{ type: ['string', 'null'] }, ['a', null], [1, {}]],
  [{ type: 'string', nullable: true }, ['a', null], [1]],
  [{ type: 'string', nullable: false }, ['a'], [null]],
  [{ const: { a: [1] } }, [{ a: [1] }], [{ a: [2] }, { a: [1], b: 1 }, null]],
  [{ enum: ['a', 2, null] }, ['a', 2, null], ['b', 3, {}]],
  [{ minimum: 2, maximum: 4 }, [2, 3.5, 4, 3n, 'a'], [1, 5, 5n]],
  [{ exclusiveMinimum: 2, exclusiveMaximum: 4 }, [3, 'a'], [2, 4]],
  [{ multipleOf: 0.1 }, [0.3, 'a'], [0.35]],
  [{ minLength: 2, maxLength: 3 }, ['ab', 'abc', '😀😀', 7], ['a', 'abcd', '😀']],
  [{ pattern: '^a' }, ['ab', 7], ['ba']],
  [{ format: 'date' }, ['2026-01-28', 7], ['2026-13-01', 'today']],
  [{ minItems: 1, maxItems: 2 }, [[1], [1, 2], 'a'], [[], [1, 2, 3]]],
  [
    { uniqueItems: true },
    [
      [1, 2],
      [{ a: 1 }, { a: 2 }],
    ],
    [
      [1, 1],
      [{ a: 1 }, { a: 1 }],
    ],
  ],
  [{ prefixItems: [{ type: 'string' }], items: { type: 'integer' } }, [[], ['a'], ['a', 1]], [[1], ['a', 'b']]],
  [{ contains: { const: 1 } }, [[1], [2, 1, 1]], [[], [2]]],
  [
    { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    [
      [1, 1],
      [1, 1, 1],
    ],
    [[1], [1, 1, 1, 1]],
  ],
  [{ required: ['a'] }, [{ a: 1 }, { a: null }, []], [{}, { b: 1 }]],
  [{ properties: { a: { type: 'string' } } }, [{}, { a: 'x' }, { b: 1 }, 'a'], [{ a: 1 }]],
  [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }, { a: 1, b: 1 }], [{}, { a: 1, b: 1, c: 1 }]],
  [{ propertyNames: { maxLength: 1 } }, [{ a: 1 }], [{ ab: 1 }]],
  [{ patternProperties: { '^x': { type: 'integer' } } }, [{ x: 1, y: 'a' }], [{ x: 'a' }]],
  [
    { properties: { a: true }, patternProperties: { '^x': true }, additionalProperties: false },
    [{}, { a: 1, x1: 2 }],
    [{ b: 1 }, { a: 1, b: 1 }],
  ],
  [{ properties: { a: true }, additionalProperties: { type: 'string' } }, [{ a: 1, b: 'x' }], [{ b: 1 }]],
  [{ allOf: [{ type: 'string' }, { minLength: 2 }] }, ['ab'], ['a', 12]],
  [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, ['a', 1], [null, 0.5]],
  [{ oneOf: [{ type: 'integer' }, { minimum: 5 }] }, [1, 5.5], [7, 0.5]],
  [{ not: { type: 'string', minLength: 2 } }, ['a', 1], ['ab']],
  [{ resource: 'person' }, [ann], [{ id: 'per_1' }, { ...ann, name: 'A' }, 'per_1', null]],
  [{ resource: 'node' }, [{ value: 1 }, { value: 1, next: { value: 2 } }], [{ value: 1, next: { value: 'a' } }, {}]],
  [{ type: 'array', items: { resource: 'person' } }, [[ann, ann]], [[ann, 1]]],
  [{ ref: 'person' }, ['per_1'], [1, ann, null]],
  [{ ref: 'counter' }, [1], ['1', { id: 1 }]],
];

const samples = new Samples(spec);

for (const [shape, fit, others] of cases) {
  test(`${JSON.stringify(shape)} is fitted by what it says and by nothing else`, () => {
    const fits = samples.fitting.of(shape);
    for (const value of fit) assert.ok(fits(value), `${shown(value)} fits`);
    for (const value of others) assert.ok(!fits(value), `${shown(value)} does not fit`);
  });
}

test('a shape that is asked for again says the same', () => {
  const shape = { type: 'string', minLength: 2 };
  for (const _time of [1, 2]) assert.deepEqual(['ab', 'a'].map(samples.fitting.of(shape)), [true, false]);
});

test('the shape false is fitted by nothing', () => {
  for (const value of [null, 1, 'a', {}]) assert.equal(samples.fitting.of(false)(value), false);
});

test('where a shape says what cannot be decided here, nothing surely fits it', () => {
  const beyond: readonly JsonMap[] = [
    { $ref: '#/$defs/a' },
    { $dynamicRef: '#a' },
    { if: true },
    { dependentRequired: { a: ['b'] } },
    { dependentSchemas: { a: true } },
    { unevaluatedProperties: false },
    { unevaluatedItems: true },
    { not: { pattern: '^a' } },
    { not: { properties: { a: true } } },
  ];
  for (const shape of beyond) assert.equal(samples.fitting.of(shape)('a'), false, JSON.stringify(shape));
  for (const shape of beyond.slice(0, -2)) assert.equal(samples.fitting.decides(shape), false, JSON.stringify(shape));
  assert.ok(
    samples.fitting.decides({ type: 'object', properties: { a: { $ref: '#' } }, description: 'a' }),
    'only the top is asked',
  );
});

test('what is only said about a value, and not of it, leaves it decided', () => {
  const fits = samples.fitting.of({
    type: 'string',
    description: 'a',
    title: 'b',
    examples: [1],
    $defs: { a: false },
    contentSchema: false,
  });
  assert.deepEqual([fits('a'), fits(1)], [true, false]);
});

test('in an answer, and only there, a reference may be shown whole', () => {
  const answers = new Samples(spec, { size: 'ordinary', showsWhole: true }).fitting.of({ ref: 'person', minLength: 3 });
  assert.deepEqual([answers('per_1'), answers('p'), answers(ann), answers({ id: 'per_1' })], [true, false, true, false]);
  assert.equal(samples.fitting.of({ ref: 'person', minLength: 3 })(ann), false);
});

function shown(value: unknown): string {
  return typeof value === 'bigint' ? `${value}n` : JSON.stringify(value);
}
