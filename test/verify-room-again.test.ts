import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Of each instrument three visits may be planned at once; what is cancelled or begun no longer counts. */
const visits = `title: Visits
resources:
  instrument:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, maxLength: 30 } }
    required: [id, name]
  visit:
    identifier: { field: id, generate: uuid }
    fields: { id: string, instrument: { ref: instrument, immutable: true, onDelete: cascade }, status: { type: string, readOnly: true } }
    required: [id, instrument, status]
states:
  instrument: none
  visit:
    field: status
    initial: planned
    states: [planned, underway, cancelled]
    transitions: { begin: planned -> underway, cancel: planned -> cancelled }
endpoints:
  POST /instruments: { does: create instrument }
  POST /instruments/{instrument}/visits: { does: create visit }
  GET /visits/{id}: { does: read visit }
  POST /visits/{id}/begin: { does: begin visit }
  POST /visits/{id}/cancel: { does: cancel visit }
authentication: none
limits: { rows: [{ of: visit, per: instrument, while: "next.status == 'planned'", limit: 3 }] }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown, reference.missing] }
    wrong_state: { status: 409, when: transition.illegal }
    full: { status: 429, when: limit.quota }
`;

async function heldTo(served: string) {
  const stand = await openStand(visits, { served });
  try {
    const { breaches, facts } = await stand.verify({ only: ['limits/rows'] });
    const fact = facts.find(({ kind, subject }) => kind === 'quotas' && subject === 'rows of visit');
    return { verdict: fact?.verdict, told: breaches.map(({ subject, reason }) => `${subject}, ${reason}`) };
  } finally {
    await stand.close();
  }
}

test('a limit of rows in some states is held once each way out of these made room', async () => {
  assert.deepEqual(await heldTo(visits), { verdict: 'held', told: [] });
});

test('what is cancelled and goes on counting is found, and by nothing else', async () => {
  const { told } = await heldTo(visits.replace("next.status == 'planned'", "next.status in ['planned', 'cancelled']"));
  assert.deepEqual(told, ['rows of visit, room again by cancel']);
});
