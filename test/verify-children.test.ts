import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { orderLines } from './values/order-lines.ts';
import type { Bent } from './verify/stand.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Orders whose lines an update takes, without what else their service does. */
const document = orderLines
  .replace(/events:\n[\s\S]*?errors:\n/, 'events: none\nerrors:\n')
  .replace(/ {2}PUT .*\n/, '')
  .replace(', replace: resource.changes + 1', '')
  .replaceAll('taken_by: [create, update, replace]', 'taken_by: [create, update]');

/** What a service does otherwise: a line of its document, requests bent on their way in, or answers spoiled on their way out. */
type Fault = readonly [what: string, reason: RegExp, how: Pick<StandOptions, 'served' | 'bend' | 'spoil'>];

type Body = { lines?: Record<string, unknown>[] };

/** Bends the lines that are sent with an update. */
function bending(change: (lines: Record<string, unknown>[]) => Record<string, unknown>[]) {
  return ({ method, text }: Bent): Partial<Bent> => {
    const body: Body = method === 'PATCH' && text !== '' ? JSON.parse(text) : {};
    return Array.isArray(body.lines) ? { text: JSON.stringify({ ...body, lines: change(body.lines) }) } : {};
  };
}

const served = (stated: string, otherwise: string) => {
  assert.ok(document.includes(stated), stated);
  return { served: document.replace(stated, otherwise) };
};

const faults: readonly Fault[] = [
  [
    'updates take no lines',
    /children, changed/,
    served('maxItems: 5, taken_by: [create, update]', 'maxItems: 5, taken_by: [create]'),
  ],
  [
    'a line that is named is changed in what nobody sent',
    /children, changed/,
    { bend: bending((lines) => lines.map((line) => ('id' in line ? { quantity: 77, ...line } : line))) },
  ],
  [
    'a line that is named is made anew',
    /children, changed/,
    {
      bend: bending((lines) =>
        lines.map(({ id, ...line }) => (id === undefined ? line : { product: 'p', position: 88, ...line })),
      ),
    },
  ],
  [
    'what is sent with a line that is named is lost',
    /children, changed/,
    { bend: bending((lines) => (lines.some(({ id }) => id !== undefined) ? lines.filter(({ id }) => id !== undefined) : lines)) },
  ],
  [
    'a line that nobody has is passed over',
    /children, others/,
    { bend: bending((lines) => lines.filter(({ id }) => id !== 'nf-nobody')) },
  ],
  [
    'lines of other orders are passed over',
    /children, others/,
    { bend: bending((lines) => (lines.length === 2 && 'id' in (lines[1] ?? {}) ? lines.slice(0, 1) : lines)) },
  ],
];

describe('a service that takes children otherwise', { concurrency: 6 }, () => {
  for (const [what, reason, how] of oneOfEach(faults, ([, why]) => String(why))) {
    test(`is said to be broken where ${what}`, async () => {
      const stand = await openStand(document, { ...how, inPairs: true });
      try {
        const { breaches } = await stand.verify({
          only: ['allowed values:order.lines'],
          until: (breach) => reason.test(breach.reason),
        });
        assert.ok(
          breaches.some((breach) => breach.subject === 'order.lines' && reason.test(breach.reason)),
          breaches.map((breach) => `${breach.subject} ${breach.reason}`).join('; '),
        );
      } finally {
        await stand.close();
      }
    });
  }
});

test('a service that takes children as it states is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(document);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const fact = facts.find(({ kind, subject }) => kind === 'allowed values' && subject === 'order.lines');
    assert.deepEqual([fact?.verdict, fact?.why], ['held', undefined]);
    assert.deepEqual(stand.failures, []);
  } finally {
    await stand.close();
  }
});
