import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asLater } from '../src/verify/exchange/later.ts';
import { openStand } from './verify/stand.ts';

test('times are as much later, written as they were, and nothing else is', () => {
  const hourMs = 3_600_000;
  assert.equal(asLater('2026-11-30T22:30:00Z', 3 * hourMs), '2026-12-01T01:30:00Z');
  assert.equal(asLater('2026-11-30T22:30:00.250+02:00', hourMs), '2026-11-30T23:30:00.250+02:00');
  assert.equal(asLater('2026-11-30', 36 * hourMs + 1), '2026-12-02');
  assert.equal(asLater('2026-11-30', 2 * hourMs), '2026-11-30');
  assert.equal(asLater('2026-11-30T22:30:00Z', 20_000), '2026-11-30T22:30:00Z');
  for (const text of ['', 'tomorrow', '2026-13-45T99:00:00Z', '2026-11-30 22:30', '20261130T223000Z', '9999-12-31T23:59:59Z'])
    assert.equal(asLater(text, 48 * hourMs), text);
});

/** A visit is planned for a time to come, and lapses after a fortnight. */
const visits = `title: Visits
resources:
  visit:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      planned_for: { type: string, format: date-time }
      status: { type: string, readOnly: true }
    required: [id, planned_for, status]
states:
  visit:
    field: status
    initial: planned
    states: [planned, underway, lapsed]
    transitions: { begin: planned -> underway, lapse: { from: planned, to: lapsed, after: 4000d } }
endpoints:
  POST /visits: { does: create visit }
  GET /visits/{id}: { does: read visit }
  POST /visits/{id}/begin: { does: begin visit }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    wrong_state: { status: 409, when: transition.illegal }
    no_version: { status: 400, when: version.unknown }
    in_the_past: { status: 422, on: [create visit], if: "timestamp(next.planned_for) < now" }
versioning:
  versions: { "2024-01-01": {}, "2025-01-01": { current: true } }
  select: { header: Visits-Version, default: none }
  guarantee: additive
  changes: { "2024-01-01": none, "2025-01-01": none }
`;

test('what is seen to be broken once a time has passed is shown again with times that are still to come', async () => {
  const stand = await openStand(visits, { served: visits.replace('after: 4000d', 'after: 3000d') });
  try {
    const { breaches } = await stand.verify({ only: ['states/timed'] });
    assert.deepEqual(
      breaches.map(({ kind, subject, reproduced }) => [kind, subject, reproduced.shown]),
      [['transitions', 'visit', 2]],
    );
  } finally {
    await stand.close();
  }
});
