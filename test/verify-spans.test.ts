import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spansIn } from '../src/verify/make/timely.ts';
import { openStand } from './verify/stand.ts';

/** A passage is booked days ahead; a parcel may say by when it is to come, in which case that is in three weeks at the earliest. */
const bookings = `title: Bookings
purpose: { purpose: Books passages., users: { guest: Books them. } }
resources:
  passage:
    identifier: { field: id, generate: uuid }
    fields: { id: string, leaves: { type: string, format: date-time }, back: { type: string, format: date-time } }
    required: [id, leaves, back]
  parcel:
    identifier: { field: id, generate: uuid }
    fields: { id: string, by: { type: string, format: date-time } }
    required: [id]
states: none
endpoints:
  POST /passages: { does: create passage }
  GET /passages/{id}: { does: read passage }
  POST /parcels: { does: create parcel }
  GET /parcels/{id}: { does: read parcel }
authentication: none
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    too_soon: { status: 409, on: [create passage], if: "next.leaves < now + duration('48h')" }
    too_short: { status: 409, on: [create passage], if: "next.back < next.leaves || next.back < now + duration('96h30m')" }
    in_haste: { status: 409, on: [create parcel], if: "has(next.by) && (next.by < now + duration('504h') || next.by > now)" }
limits: { rate: none }
versioning: { versions: none }
`;

test('times are drawn beyond the spans that conditions name, and left out where none is taken', async () => {
  const counts = { made: 0, refused: 0, parcels: 0 };
  const stand = await openStand(bookings, {
    spoil: ({ method, target, status }) => {
      if (method === 'POST' && status === 201) counts[target === '/parcels' ? 'parcels' : 'made'] += 1;
      if (method === 'POST' && status === 409) counts.refused += 1;
      return {};
    },
  });
  try {
    const { facts, breaches } = await stand.verify({ only: ['endpoints/bodies', 'resources/stored', 'authentication/users'] });
    assert.deepEqual(
      breaches.map(({ kind, subject, seen }) => `${kind}:${subject} ${seen}`),
      [],
    );
    assert.ok(counts.made > 0 && counts.parcels > 0, JSON.stringify(counts));
    const stored = facts.find(({ kind, subject }) => kind === 'types' && subject === 'passage.leaves');
    assert.equal(stored?.verdict, 'held');
  } finally {
    await stand.close();
  }
});

test('a span that leads to no moment that can be written is passed over', () => {
  const spans = (source: string) => spansIn([{ source, at: '' }]);
  assert.deepEqual(spans("next.leaves > now + duration('48h') && next.leaves < now + duration('30m')"), [172_800_000, 1_800_000]);
  assert.deepEqual(spans("next.leaves > now + duration('99999999999999h')"), []);
});
