import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** A limit of rows that counts those of which a member says so: a change may make one count as much as a creation. */
const document = (counted: string) => `title: Hooks
purpose: { purpose: Tells others., users: { owner: Has hooks. } }
resources:
  hook:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      live: { type: boolean, default: true }
      was_live: { type: boolean, visible: none, set: { create: next.live } }
    required: [id, owner, live]
states: { hook: none }
endpoints:
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  PATCH /hooks/{id}: { does: update hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [create hook], to: owner }, { allow: [read hook, update hook, delete hook], to: owner, if: "resource.owner == caller.id" }]
events: none
errors:
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    enough: { status: 409, when: limit.quota }
limits: { rate: none, quota: none, rows: [{ of: hook, per: owner, while: "${counted}", limit: 3 }] }
versioning: { versions: none }
`;

test('a row that a change makes count is one too many too', async () => {
  const stand = await openStand(document('next.live'));
  try {
    const { breaches, facts } = await stand.verify({ only: ['limits/rows'] });
    assert.deepEqual(breaches, []);
    const fact = facts.find(({ subject }) => subject === 'rows of hook');
    assert.equal(fact?.verdict, 'held', JSON.stringify(fact));
  } finally {
    await stand.close();
  }
});

test('it is found where only creations are counted', async () => {
  const stand = await openStand(document('next.live'), { served: document('has(next.was_live) && next.was_live') });
  try {
    const { breaches } = await stand.verify({ only: ['limits/rows'] });
    assert.ok(
      breaches.some(({ reason }) => reason === 'kept, by a change'),
      JSON.stringify(breaches),
    );
  } finally {
    await stand.close();
  }
});
