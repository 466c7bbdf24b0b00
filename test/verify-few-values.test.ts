import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Of a metal and a fineness there is one alloy: 4 metals and 40 finenesses are soon drawn twice. */
const alloys = `
resources:
  alloy:
    identifier: { field: id, generate: uuid }
    fields: { id: string, metal: { enum: [gold, silver, platinum, palladium] }, fineness: { type: integer, minimum: 1, maximum: 200 }, note: { type: string?, maxLength: 20 } }
    required: [id, metal, fineness]
    unique: [[metal, fineness]]
states: none
endpoints:
  POST /alloys: { does: create alloy }
  GET /alloys: { does: list alloy, pagination: { style: offset, offset: skip, size: take, default: 5, max: 20, items: alloys } }
  GET /alloys/{id}: { does: read alloy }
  PATCH /alloys/{id}: { does: update alloy }
  DELETE /alloys/{id}: { does: delete alloy }
authentication: none
errors: { payload: problem, codes: { invalid: { status: 422, when: request.invalid }, missing: { status: 404, when: [resource.missing, route.unknown] }, taken: { status: 409, when: resource.exists }, bad: { status: 400, when: [request.parameter, limit.page] } } }
`;

test('of several values that are unique together the one with most room is new each time, and whole numbers take their turn', async () => {
  const answers = { made: 0, taken: 0 };
  const stand = await openStand(alloys, {
    spoil: ({ method, status }) => {
      if (method === 'POST' && status === 201) answers.made += 1;
      if (method === 'POST' && status === 409) answers.taken += 1;
      return {};
    },
  });
  try {
    const { breaches } = await stand.verify({ only: ['resources', 'endpoints'] });
    assert.deepEqual(breaches, []);
    // What is sent twice on purpose is refused, and little beside it.
    assert.ok(answers.made > 50 && answers.taken * 4 < answers.made, JSON.stringify(answers));
  } finally {
    await stand.close();
  }
});
