import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneOfEach } from './long.ts';
import { chosenFields } from './values/chosen-fields.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand, type Passing } from './verify/stand.ts';

const reading = 'GET /orders/{id}: { does: read order, etag: strong, expand: { parameter: expand, depth: 1 } }';
const making = 'POST /orders: { does: create order }';

const rows: readonly Otherwise[] = [
  [
    'the parameter chooses nothing',
    reading,
    reading.replace('does: read order', 'does: read order, select: none, parameters: { fields: { in: query } }'),
    'response payload shapes:GET /orders/{id}',
    /chosen/,
  ],
  [
    'a name that there is not is passed over',
    reading,
    reading.replace('does: read order', 'does: read order, select: none, parameters: { fields: { in: query } }'),
    'parameters:GET /orders/{id}',
    /choice refused: nf_not_there/,
  ],
  [
    'what is hidden can be chosen',
    'cost: { type: integer, visible: [clerk] }',
    'cost: { type: integer }',
    'parameters:GET /orders/{id}',
    /choice refused: cost/,
  ],
  [
    'what is made is shown whole',
    making,
    making.replace('does: create order', 'does: create order, select: none, parameters: { fields: { in: query } }'),
    'response payload shapes:POST /orders',
    /chosen/,
  ],
];

servedOtherwise(
  chosenFields,
  oneOfEach(rows, ([, , , breaks]) => breaks),
);

/** Services that show another part than was chosen: what they do to an answer on its way out. */
const careless: readonly (readonly [fault: string, spoil: (row: Record<string, unknown>) => void])[] = [
  ['the identifier is left out', (row) => delete row.id],
  ['more is shown than was chosen', (row) => (row.also = 1)],
  ['a text is cut', (row) => (row.title = String(row.title).slice(1))],
];

for (const [fault, spoil] of careless)
  test(`response payload shapes:GET /orders/{id} is said to be broken where ${fault}`, async () => {
    const stand = await openStand(chosenFields, {
      spoil: ({ method, target, status, text }: Passing) => {
        if (method !== 'GET' || status !== 200 || !/^\/orders\/[^?]+\?fields=title$/.test(target)) return {};
        const row = JSON.parse(text) as Record<string, unknown>;
        spoil(row);
        return { text: JSON.stringify(row) };
      },
    });
    try {
      const { breaches } = await stand.verify({ only: ['endpoints/selected'] });
      const found = breaches.filter((breach) => breach.subject === 'GET /orders/{id}' && breach.reason === 'chosen');
      assert.ok(found.length > 0, breaches.map((breach) => `${breach.kind}:${breach.subject} ${breach.reason}`).join('; '));
    } finally {
      await stand.close();
    }
  });

test('response payload shapes:GET /orders is said to be broken where rows of a list are shown without the identifier', async () => {
  const stand = await openStand(chosenFields, {
    spoil: ({ method, target, status, text }: Passing) =>
      method === 'GET' && status === 200 && /^\/orders\?.*fields=title\b/.test(target)
        ? { text: text.replaceAll(/"id":"[^"]+",/g, '') }
        : {},
  });
  try {
    const { breaches } = await stand.verify({ only: ['endpoints/selected'] });
    assert.ok(breaches.some(({ subject, reason }) => subject === 'GET /orders' && reason === 'chosen'));
  } finally {
    await stand.close();
  }
});

test('a service whose callers choose fields is found without a fault', async () => {
  const stand = await openStand(chosenFields, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const verdicts = facts
      .filter(
        ({ kind, subject }) => ['parameters', 'response payload shapes'].includes(kind) && /(?:orders|people)/.test(subject),
      )
      .map(({ kind, subject, verdict, why }) => `${kind} ${subject} ${verdict} ${why ?? ''}`.trim());
    assert.deepEqual(
      verdicts.filter((verdict) => !verdict.endsWith(' held')),
      [],
    );
  } finally {
    await stand.close();
  }
});
