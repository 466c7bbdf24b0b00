import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notes, trips } from './values/values.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const rows: readonly Otherwise[] = [
  [
    'a rule is not kept',
    'if: next.arrives <= next.leaves',
    'if: "false && next.arrives <= next.leaves"',
    'allowed values:trip.arrives',
    /leaves_first, refused/,
  ],
  [
    'a rule is turned round',
    'if: next.arrives <= next.leaves',
    'if: next.arrives > next.leaves',
    'allowed values:trip.arrives',
    /leaves_first/,
  ],
  [
    'nothing has to be chosen',
    'one_of: [[amount, amount_decimal]]',
    'one_of: []',
    'allowed values:trip.amount_decimal',
    /choice/,
  ],
  ['a rule holds earlier', 'next.seats > 8', 'next.seats > 7', 'allowed values:trip.id', /few, spared/],
];

servedOtherwise(trips, rows);
servedOtherwise(notes, [
  [
    'another address is told',
    "'https://notes.example/notes/' + next.id",
    "'https://notes.example/note/' + next.id",
    'allowed values:note.url',
    /set/,
  ],
]);

test('a rule that holds where a row is made, and not where it is changed, is found', async () => {
  const stand = await openStand(trips, {
    spoil: ({ method, status }) => (method === 'PATCH' && status === 422 ? { status: 200, text: '{}' } : {}),
  });
  try {
    const { breaches } = await stand.verify({ only: ['resources/rules'] });
    assert.ok(breaches.some(({ subject, reason }) => subject === 'trip.arrives' && reason === 'leaves_first, refused'));
  } finally {
    await stand.close();
  }
});

for (const [name, document, facts] of [
  ['notes', notes, ['note.url', 'ticket.name']],
  ['trips', trips, ['trip.arrives', 'trip.amount_decimal', 'trip.leaves']],
] as const)
  test(`a service of ${name} that keeps its document is found without a fault`, async () => {
    const stand = await openStand(document);
    try {
      const report = await stand.verify({ only: ['resources'] });
      assert.deepEqual(report.breaches, []);
      const about = report.facts.filter(
        ({ kind, subject }) => kind === 'allowed values' && (facts as readonly string[]).includes(subject),
      );
      assert.deepEqual(
        about.map(({ subject, verdict, why }) => [subject, verdict, why]),
        about.map(({ subject }) => [subject, 'held', undefined]),
      );
    } finally {
      await stand.close();
    }
  });
