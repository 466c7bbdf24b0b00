import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { ledgerOfCards } from './values/ledger-of-cards.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const rows: readonly Otherwise[] = [
  [
    'a row from the start is not there',
    '      - { id: card_bad, word: never good, good: false }\n',
    '',
    'identifiers:card',
    /from the start/,
  ],
  [
    'a list says another path',
    'self: url, data: { object: list }',
    'data: { object: list, url: /cards/x }',
    'pagination bounds:GET /cards',
    /path/,
  ],
  [
    'the oldest of what is alike comes first',
    'order: amount, ties: newest',
    'order: amount',
    'response payload shapes:GET /charges',
    /ties/,
  ],
];

servedOtherwise(
  ledgerOfCards,
  oneOfEach(rows, ([, , , breaks]) => breaks),
);

test('a service of forms as it is stated is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(ledgerOfCards);
  try {
    const { breaches, unsteady } = await stand.verify();
    assert.deepEqual([...breaches, ...unsteady], []);
  } finally {
    await stand.close();
  }
});
