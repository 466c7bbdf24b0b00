import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ownStatements, withOwnStatements } from '../src/convert/spec/own-statements.ts';
import type { Json, JsonMap } from '../src/document/document.ts';

const key = fc.constantFrom('a', 'b', 'c/d', '~', '__proto__', '');
const { tree } = fc.letrec<{ tree: JsonMap; value: Json }>((tie) => ({
  tree: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: false }),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, 0, 1, '', 'a', true, [], [1], [{ a: 1 }], [{ a: 1, b: 2 }]),
    tie('tree'),
  ),
}));

test('what is read, with what is said beside it, is the document again', () => {
  fc.assert(
    fc.property(tree, tree, (document, read) => {
      const own = ownStatements(document, read);
      const carried = JSON.parse(JSON.stringify(own)) as typeof own;
      assert.deepEqual(plain(withOwnStatements(read, carried)), plain(document));
    }),
    { numRuns: 500 },
  );
});

test('what is read already is not said again', () => {
  fc.assert(
    fc.property(tree, (document) => {
      assert.deepEqual(plain(ownStatements(document, document)), { stated: {}, absent: [] });
    }),
  );
  const own = ownStatements({ a: { b: 1, c: [1] }, d: 'x' }, { a: { b: 1, c: [2], e: 3 } });
  assert.deepEqual(plain(own), { stated: { a: { c: [1] }, d: 'x' }, absent: ['/a/e'] });
});

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
