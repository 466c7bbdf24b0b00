import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAddress, shownAddress } from '../src/store/postgres/address.ts';

test('an address is shown without its password, however that is written', () => {
  for (const password of ['secret', 'se@cret', 'se/cret', 'se:cret', 'se?cret', 'se#cret', 'sec%40ret'])
    assert.equal(shownAddress(`postgres://u:${password}@db:5432/notes`), 'postgres://u:…@db:5432/notes', password);
  assert.equal(shownAddress('postgres://u@db/notes?password=secret&schema=x'), 'postgres://u@db/notes');
});

test('where an address is none, the error shows no password either', () => {
  assert.throws(
    () => readAddress('postgres://u:se/cret@db/notes'),
    (error: Error) => /is no address of a database/.test(error.message) && !error.message.includes('cret'),
  );
});
