import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noRows, row, table } from './store-engines.ts';
import { openTestPglite } from './stores/pglite.ts';

const seats = table('seat', ['level:integer', 'name:text'], { unique: ['name'], indexes: [['level']] });
const atLevel = { table: 'seat', where: { op: '=', left: { column: 'level' }, right: { param: 0 } } } as const;

test('what a change looks at again and again PostgreSQL is asked for once', async (t) => {
  const sent: string[][] = [];
  const store = await openTestPglite('asked', (statements) => {
    const asked = statements
      .filter(({ text }) => /^\s*(?:SELECT|WITH)/i.test(text))
      .map((one) => `${one.text} ${one.values.join()}`);
    if (asked.length > 0) sent.push(asked);
  });
  t.after(() => store.close());
  await store.prepare([seats], noRows);
  await store.change((rows) => {
    rows.insert('seat', row('a', 1, 'x'));
    rows.keep('k', { fingerprint: '', body: '1', expiresMs: Number.MAX_SAFE_INTEGER });
  });
  const asked = (word: RegExp) => sent.flat().filter((one) => word.test(one)).length;
  sent.length = 0;
  await store.change((rows) => {
    for (let again = 0; again < 3; again++) {
      assert.equal(rows.get('seat', 'a')?.rev, rows.text('seat', 'a')?.rev);
      assert.equal(rows.record('k', 0)?.body, '1');
      assert.equal(rows.holder('seat', 'name', 'x'), 'a');
      assert.equal(rows.all(atLevel, [1]).length, 1);
      assert.equal(rows.count(atLevel, [1]), 1);
    }
  });
  assert.equal(new Set(sent.flat()).size, sent.flat().length, sent.flat().join('\n'));
  assert.deepEqual([asked(/records/), asked(/ count\(/i)], [1, 1]);
  sent.length = 0;
  // What a body has written itself it is not asked for; what may be another by it is, once.
  await store.change((rows) => {
    const found = rows.get('seat', 'a');
    rows.update('seat', row('a', 2, 'x'));
    rows.keep('k', { fingerprint: '', body: '2', expiresMs: Number.MAX_SAFE_INTEGER });
    for (let again = 0; again < 3; again++) {
      assert.notEqual(rows.get('seat', 'a')?.rev, found?.rev);
      assert.equal(rows.record('k', 0)?.body, '2');
      assert.equal(rows.all(atLevel, [2]).length, 1);
    }
  });
  assert.equal(new Set(sent.flat()).size, sent.flat().length, sent.flat().join('\n'));
  assert.equal(asked(/records/), 0);
});
