import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileCursors, type Position } from '../src/serve/resources/lists/query.ts';

const key = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.bigInt(), fc.constant(null), fc.constant('a'.repeat(400)));
const position: fc.Arbitrary<Position> = fc.record(
  { keys: fc.array(key, { maxLength: 4 }), seq: fc.nat(), back: fc.boolean() },
  { noNullPrototype: true },
);

/** Whoever gave a cursor out remembers it; another one, after a restart, has the secret alone. */
const givers = () => {
  const own = compileCursors('secret');
  return [own, own, compileCursors('secret')] as const;
};

test('a cursor leads to where it was given for, for who gave it out and for who has the secret', () => {
  fc.assert(
    fc.property(position, fc.string(), (at, query) => {
      const [write, ...readers] = givers();
      const cursor = write.write(at, query);
      assert.match(cursor, /^[\w-]+\.[\w-]{22}$/);
      for (const reader of readers) assert.deepEqual(reader.read(cursor, query), at);
    }),
  );
});

test('a cursor of another query, another secret, or of no one is refused', () => {
  const at: Position = { keys: ['a', 1, 2n ** 60n, null], seq: 7, back: false };
  {
    const [write, ...readers] = givers();
    const cursor = write.write(at, 'query');
    for (const reader of readers) {
      assert.equal(reader.read(cursor, 'query '), undefined);
      for (let index = 0; index < cursor.length; index++) {
        const changed = cursor.slice(0, index) + (cursor[index] === 'A' ? 'B' : 'A') + cursor.slice(index + 1);
        assert.equal(reader.read(changed, 'query'), undefined, changed);
      }
      for (const other of ['', '.', '~', '~.', `${cursor}A`, ` ${cursor}`, cursor.slice(0, -1), `~${cursor}`, cursor.slice(1)])
        assert.equal(reader.read(other, 'query'), undefined, other);
    }
    assert.equal(compileCursors('another').read(cursor, 'query'), undefined);
  }
});

test('a cursor is still known when many others were given out after it', () => {
  const cursors = compileCursors('secret');
  const given = Array.from({ length: 3000 }, (_, seq) => cursors.write({ keys: [seq], seq, back: false }, 'query'));
  for (const [seq, cursor] of given.entries()) assert.equal(cursors.read(cursor, 'query')?.seq, seq);
});

test('a cursor shows nobody what it holds, and not even by its length how large a number is', () => {
  const cursors = compileCursors('secret');
  const of = (seq: number) => cursors.write({ keys: ['hidden'], seq, back: false }, 'query');
  assert.deepEqual([...new Set([1, 12, 123_456].map((seq) => of(seq).length))].length, 1);
  for (const seq of [1, 1_234_567]) {
    const [payload = ''] = of(seq).split('.');
    assert.doesNotMatch(Buffer.from(payload, 'base64url').toString('latin1'), /hidden/);
  }
});

test('the signature is an HMAC-SHA256 over what is sealed', () => {
  const [, signature] = compileCursors('secret')
    .write({ keys: ['é'], seq: 3, back: true }, 'quéry')
    .split('.');
  const secret = createHash('sha256').update('secret').digest('hex');
  const payload = Buffer.from('[3,1,"é"]'.padEnd(23)).toString('base64url');
  const expected = createHmac('sha256', secret).update(`${payload}\nquéry`).digest('base64url');
  assert.equal(signature, expected.slice(0, 22));
});
