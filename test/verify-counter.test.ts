import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneOfEach } from './long.ts';
import { counter } from './values/counter.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand, type Passing } from './verify/stand.ts';

const expansion = 'defaults: { all: { expand: { parameter: "expand[]", member: expand, below: data, depth: 2 } } }';
const declined =
  '{ if: "has(next.confirm) && next.confirm && has(next.card) && next.card.outcome == \'declined\'", state: failed, answer: card_declined }';

const rows: readonly Otherwise[] = [
  ['places are pointers', 'paths: bracketed', 'paths: pointer', 'error payload shapes:service', /its place/],
  ['places are dotted', 'paths: bracketed', 'paths: dotted', 'error payload shapes:service', /its place/],
  [
    'another parameter asks for what is shown whole',
    expansion,
    expansion.replace('"expand[]"', 'with'),
    'response payload shapes:GET /charges/{id}',
    /^expanded$/,
  ],
  [
    'paths in lists begin with no member',
    expansion,
    expansion.replace(', below: data', ''),
    'response payload shapes:GET /charges',
    /^expanded/,
  ],
  [
    'the body asks for nothing',
    expansion,
    expansion.replace(', member: expand', ''),
    'response payload shapes:POST /charges',
    /in the body/,
  ],
  [
    'what is declined is made as if nothing were',
    declined,
    declined.replace(', answer: card_declined', ''),
    'states:charge',
    /answered/,
  ],
  [
    'what is declined is answered as if it were empty',
    declined,
    declined.replace('answer: card_declined', 'answer: card_empty'),
    'states:charge',
    /answered with card_declined/,
  ],
  ['what is declined begins elsewhere', declined, declined.replace('state: failed', 'state: open'), 'states:charge', /and kept/],
  [
    'nobody is told what was made',
    `charge: "operation == 'create charge' ? result : null"`,
    'charge: "null"',
    'states:charge',
    /tells what was made/,
  ],
];

servedOtherwise(
  counter,
  oneOfEach(rows, ([, , , breaks]) => breaks),
);

/** Services that show less than was asked for: what they do to an answer on its way out. */
const careless: readonly (readonly [fault: string, spoil: (row: Record<string, unknown>) => void])[] = [
  ['it stays an identifier', (row) => (row.customer = (row.customer as { id: string }).id)],
  ['a field of it is left out', (row) => delete (row.customer as Record<string, unknown>).name],
];

for (const [fault, spoil] of careless)
  test(`a reference that is asked for is said to be broken where ${fault}`, async () => {
    const stand = await openStand(counter, {
      spoil: ({ method, target, status, text }: Passing) => {
        if (method !== 'GET' || status !== 200 || !/^\/charges\/[^?]+\?expand(?:%5B%5D|\[\])=customer$/.test(target)) return {};
        const row = JSON.parse(text) as Record<string, unknown>;
        spoil(row);
        return { text: JSON.stringify(row) };
      },
    });
    try {
      const { breaches } = await stand.verify({ only: ['endpoints/expanded'] });
      const found = breaches.filter((breach) => breach.subject === 'GET /charges/{id}' && breach.reason === 'expanded');
      assert.ok(found.length > 0, breaches.map((breach) => `${breach.kind}:${breach.subject} ${breach.reason}`).join('; '));
    } finally {
      await stand.close();
    }
  });

test('a service that expands, brackets and keeps what it declines is found without a fault', async () => {
  const stand = await openStand(counter, { inPairs: true });
  try {
    const { breaches, unsteady, facts } = await stand.verify({
      only: ['states/answered', 'endpoints/expanded', 'errors/written places'],
    });
    assert.deepEqual([...breaches, ...unsteady], []);
    const held = facts.filter(({ kind, subject }) => kind === 'states' && subject === 'charge').map(({ verdict }) => verdict);
    assert.deepEqual(held, ['held']);
  } finally {
    await stand.close();
  }
});

test('a problem tells nothing of what was made, and nobody looks for it there', async () => {
  const plain = counter.replace(/ {2}payload:\n(?: {4}.*\n)+/, '  payload: problem\n');
  assert.match(plain, /payload: problem/);
  const stand = await openStand(plain, { inPairs: true });
  try {
    const { breaches, unsteady } = await stand.verify({ only: ['states/answered'] });
    assert.deepEqual([...breaches, ...unsteady], []);
  } finally {
    await stand.close();
  }
});
