import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAddress, shownAddress } from '../src/store/postgres/connection.ts';

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

test('how long an answer may take is a number of seconds', () => {
  assert.equal(readAddress('postgres://u@db/notes').settings.answerMs, 30_000);
  assert.equal(readAddress('postgres://u@db/notes?answer_timeout=5').settings.answerMs, 5000);
  for (const wrong of ['0', '1.5', '10000', '5s', ''])
    assert.throws(() => readAddress(`postgres://u@db/notes?answer_timeout=${wrong}`), /from 1 to 9999/, wrong);
});
