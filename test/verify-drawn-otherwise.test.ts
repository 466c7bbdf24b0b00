import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** What is as ordinary as can be is refused: a day that is over is asked for, and a drawer that is open where there is one. */
const cuttings = `title: Cuttings
purpose: { purpose: Keeps cuttings., users: { clerk: Keeps them. } }
resources:
  drawer:
    identifier: { field: id, generate: "drawer_{ulid}" }
    fields: { id: string, shut: { type: boolean, default: false } }
    required: [id, shut]
  cutting:
    identifier: { field: id, generate: "cutting_{ulid}" }
    fields:
      id: string
      cut_on: { type: string, format: date }
      drawer: { ref: drawer, onDelete: restrict }
      text: { type: string, maxLength: 40 }
    required: [id, cut_on]
states: none
endpoints:
  POST /drawers: { does: create drawer }
  GET /drawers/{id}: { does: read drawer }
  DELETE /drawers/{id}: { does: delete drawer }
  POST /cuttings: { does: create cutting }
  GET /cuttings/{id}: { does: read cutting }
  PATCH /cuttings/{id}: { does: update cutting }
  DELETE /cuttings/{id}: { does: delete cutting }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all drawer, all cutting], to: clerk }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    held: { status: 409, when: reference.held }
    not_cut_yet: { status: 422, on: [create cutting], if: "timestamp(next.cut_on + 'T00:00:00Z') > now - duration('200000h')" }
    drawer_shut: { status: 409, on: [create cutting], if: "has(next.drawer) && next.drawer.shut" }
limits: { rate: none }
versioning: { versions: none }
`;

test('where the plainest body is refused by the service itself, others are drawn before anything is sent', async () => {
  let [taken, refused] = [0, 0];
  const stand = await openStand(cuttings, {
    spoil({ method, target, status, text }) {
      if (method === 'POST' && target === '/cuttings' && status === 201) taken += 1;
      if (/not_cut_yet|drawer_shut/.test(text)) refused += 1;
      return {};
    },
  });
  try {
    const { breaches } = await stand.verify({ only: ['resources', 'endpoints'] });
    assert.deepEqual(breaches, []);
    assert.ok(taken > 40, `${taken}`);
    assert.ok(refused * 4 < taken, `${refused} were refused beside ${taken} that were taken`);
  } finally {
    await stand.close();
  }
});
