import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSame } from '../src/document/values.ts';

const alike: readonly (readonly [unknown, unknown])[] = [
  [
    { a: 1, b: [1, { c: null }] },
    { b: [1, { c: null }], a: 1 },
  ],
  [1n, 1],
  [9_007_199_254_740_993n, 9_007_199_254_740_993n],
  [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  [Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
];

const unlike: readonly (readonly [unknown, unknown])[] = [
  [{ a: undefined }, { b: undefined }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [
    [1, 2],
    [2, 1],
  ],
  [[], {}],
  [1n, '1'],
  [1n, 1.5],
  [null, {}],
  [null, undefined],
  [{ __proto__: null, toString: 1 }, {}],
  [Uint8Array.of(1, 2), Uint8Array.of(1, 3)],
  [Uint8Array.of(1), { 0: 1 }],
];

test('JSON values are equal whatever the order of their members', () => {
  for (const [one, other] of alike) assert.ok(isSame(one, other) && isSame(other, one));
  for (const [one, other] of unlike) assert.ok(!isSame(one, other) && !isSame(other, one));
});
