import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** So few pledges a week that one window is not enough, which are deleted by their tags, and a limit of rows under the same code. */
const pledges = `title: Pledges
purpose: { purpose: Keeps pledges., users: { pledger: Brings them., clerk: Keeps them. } }
resources:
  rack:
    identifier: { field: code, generate: client }
    fields:
      code: { type: string, pattern: "^[A-Z]-[0-9]{2}$" }
      keeper: { type: string, readOnly: true, set: { create: caller.id } }
    required: [code, keeper]
  pledge:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, readOnly: true }
      item: { type: string, minLength: 3, maxLength: 20 }
      grams: { type: integer, minimum: 1, maximum: 500 }
      rack: { ref: rack, onDelete: restrict, writable: [clerk] }
    required: [id, item, grams]
states: { rack: none, pledge: none }
endpoints:
  POST /racks: { does: create rack }
  GET /racks/{code}: { does: read rack }
  DELETE /racks/{code}: { does: delete rack }
  POST /pledges: { does: create pledge }
  GET /pledges/{id}: { does: read pledge, etag: strong }
  PATCH /pledges/{id}: { does: update pledge }
  DELETE /pledges/{id}: { does: delete pledge, if_match: required }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create pledge, read pledge, update pledge, delete pledge], to: pledger }
    - { allow: [read pledge, update pledge], to: clerk }
    - { allow: [create rack, read rack, delete rack], to: clerk }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    taken: { status: 409, when: resource.exists }
    no_tag: { status: 428, when: precondition.required }
    other_tag: { status: 412, when: precondition.failed }
    enough: { status: 429, when: limit.quota }
limits:
  rate: none
  quota: [{ per: caller, on: [create pledge], limit: 12, window: week, zone: UTC }]
  rows: [{ of: rack, per: caller.id, limit: 5 }]
versioning: { versions: none }
`;

test('what asks for its tag is removed by it, where a quota by the week lets few be made', async () => {
  let untagged = 0;
  const stand = await openStand(pledges, {
    bend: (request) => {
      if (request.method === 'DELETE' && request.target.includes('/pledges/') && !request.headers['if-match']) untagged += 1;
      return {};
    },
  });
  try {
    const { breaches, leftovers } = await stand.verify();
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    assert.deepEqual(leftovers, []);
    assert.ok(untagged < 40, `${untagged} were sent without a tag`);
  } finally {
    await stand.close();
  }
});
