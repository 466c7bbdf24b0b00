import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breaksOf, edgesOf } from '../src/verify/values/variants.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';

/** Lists of words that have a pattern, of numbers, and of words of an enumeration. */
const racks = `
resources:
  rack:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      tags: { type: array, items: { type: string, pattern: "^[a-z]{2,12}$" }, maxItems: 5, uniqueItems: true }
      sizes: { type: array, items: { type: integer, minimum: 3, maximum: 9 }, minItems: 2, maxItems: 4 }
      frame: { type: object, properties: { holes: { type: array, items: { enum: [top, side, back] }, uniqueItems: true, maxItems: 3 } } }
    required: [id, sizes]
states: none
endpoints:
  POST /racks: { does: create rack }
  GET /racks/{id}: { does: read rack }
  PATCH /racks/{id}: { does: update rack }
authentication: none
errors: { payload: problem, codes: { invalid: { status: 422, when: request.invalid }, missing: { status: 404, when: [resource.missing, route.unknown] } } }
`;

const rows: readonly Otherwise[] = [
  ['words may come twice', 'maxItems: 5, uniqueItems: true', 'maxItems: 5', 'allowed values:rack.tags', /invalid refused/],
  ['more words may come', 'maxItems: 5, uniqueItems', 'maxItems: 6, uniqueItems', 'allowed values:rack.tags', /invalid refused/],
  ['fewer words may come', 'maxItems: 5, uniqueItems', 'maxItems: 4, uniqueItems', 'allowed values:rack.tags', /edge taken/],
  [
    'fewer numbers will do',
    'minItems: 2, maxItems: 4',
    'minItems: 1, maxItems: 4',
    'allowed values:rack.sizes',
    /invalid refused/,
  ],
  [
    'more numbers have to come',
    'minItems: 2, maxItems: 4',
    'minItems: 3, maxItems: 4',
    'allowed values:rack.sizes',
    /edge taken/,
  ],
  [
    'a word of an inner list may come twice',
    'uniqueItems: true, maxItems: 3',
    'maxItems: 3',
    'allowed values:rack.frame',
    /invalid refused/,
  ],
];

servedOtherwise(racks, rows);

const labels = (shape: Parameters<typeof edgesOf>[0], of: typeof edgesOf) => [...of(shape)].map(({ label }) => label);

test('lists are tried at their bounds where there are items enough that differ, and not where they would be long', () => {
  const items = { type: 'string', pattern: '^[a-z]{2,12}$' };
  assert.deepEqual(labels({ type: 'array', items, minItems: 2, maxItems: 3 }, edgesOf), ['of 2 items', 'of 3 items']);
  assert.deepEqual(labels({ type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true, maxItems: 3 }, edgesOf), [
    'of no items',
  ]);
  assert.deepEqual(labels({ type: 'array', items: { enum: ['a', 'b'] }, maxItems: 3 }, edgesOf), ['of no items', 'of 3 items']);
  assert.deepEqual(labels({ type: 'array', items: { type: 'string', minLength: 500 }, maxItems: 9 }, edgesOf), ['of no items']);
  assert.ok(
    labels({ type: 'array', items, maxItems: 5, uniqueItems: true }, breaksOf).includes('of one item twice, with others between'),
  );
  assert.ok(
    !labels({ type: 'array', items: { type: 'object' }, uniqueItems: true }, breaksOf).some((label) => label.includes('twice')),
  );
  const between = { type: 'number', minimum: 0.1, maximum: 0.9 };
  assert.deepEqual(labels({ type: 'array', items: between, maxItems: 1 }, edgesOf), ['of no items']);
});
