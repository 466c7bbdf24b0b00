import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from './check/cases/all.ts';
import { wordsOf, writtenWords } from './check/words.ts';

test('what is found is said in the words, and pointed out at the places, that are written down for each case', () => {
  assert.deepEqual(cases.map(wordsOf), writtenWords(), 'after a change on purpose: node test/check/words.ts');
});
