import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** What follows from a change is looked for in lists: of which a rule may keep some members from whoever looks, and whose page may not have what is new. */
const document = `title: Mill
purpose: { purpose: Grinds corn., users: { miller: Grinds corn. } }
resources:
  grist:
    identifier: { field: id, generate: uuid }
    fields: { id: string, toll: { type: integer, minimum: 1, maximum: 9 }, stage: { type: string, readOnly: true } }
    required: [id, toll, stage]
  due:
    identifier: { field: no, generate: integer }
    fields: { no: integer, grist: { ref: grist, readOnly: true, onDelete: restrict }, pence: { type: integer, readOnly: true } }
    required: [no, grist, pence]
states:
  due: none
  grist:
    field: stage
    initial: queued
    states: [queued, ground]
    transitions: { grind: { from: queued, to: ground, then: { create: due, set: { grist: next.id, pence: next.toll } } } }
endpoints:
  POST /grists: { does: create grist }
  GET /grists/{id}: { does: read grist }
  POST /grists/{id}/grind: { does: grind grist }
  GET /dues: { does: list due, order: no, pagination: { style: offset, offset: from, size: take, default: 2, max: 3, items: rows, has_more: more } }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [all grist], to: miller }
    - { allow: [list due], to: miller, fields: [grist] }
events: none
errors: { payload: problem, codes: { unfit: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing }, not_yours: { status: 403, when: caller.forbidden }, wrong: { status: 409, when: transition.illegal } } }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

test('a row that follows is there without the members that its reader is not shown, and may be on a later page', async () => {
  const stand = await openStand(document);
  try {
    const { breaches } = await stand.verify({ only: ['states/following', 'states/transitions'] });
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});
