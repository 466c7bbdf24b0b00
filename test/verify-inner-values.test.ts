import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { cards } from './values/cards.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const rows: readonly Otherwise[] = [
  ['other digits are kept', 'size(value.number) - 4)', 'size(value.number) - 5)', 'allowed values:payment.source', /sent/],
  ['what is set once is set by nothing', 'value.number.substring(0, 2)', "'42'", 'allowed values:payment.source', /sent/],
  [
    'what items are made of is turned round',
    'size(value.text) > 5',
    'size(value.text) <= 5',
    'allowed values:payment.marks',
    /sent/,
  ],
  [
    'the last digits stay those of the first card',
    'set: { write: "has(value.number) ?',
    'set: { write: "has(value.last4) ? value.last4 : has(value.number) ?',
    'allowed values:payment.source',
    /sent/,
  ],
];

servedOtherwise(
  cards,
  oneOfEach(rows, ([, , , breaks]) => breaks),
);

test('a service that makes what its values state is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(cards);
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});
