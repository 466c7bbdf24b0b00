import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textsOf } from '../src/parts/patterns/count.ts';
import { openStand } from './verify/stand.ts';

/** A tree stands in one of eight rows, in one of six places, for as long as it is not felled; nobody deletes one that is not. */
const trees = `
purpose: { users: { curator: Keeps the rows. } }
resources:
  tree:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      row: { type: string, pattern: "^[A-H]$" }
      spot: { type: integer, minimum: 1, maximum: 6 }
      girth: { type: integer, minimum: 10, maximum: 3000 }
      note: { type: string, maxLength: 40 }
      stage: { type: string, readOnly: true }
    required: [id, row, spot, stage]
    unique: [{ fields: [row, spot], while: "next.stage != 'felled'" }]
states:
  tree:
    field: stage
    initial: young
    states: [young, felled]
    transitions: { fell: young -> felled }
endpoints:
  POST /trees: { does: create tree }
  GET /trees: { does: list tree, parameters: { row: { in: query }, sort: { in: query, enum: [spot, -spot], sorts: true } }, pagination: { style: offset, offset: skip, size: take, default: 5, max: 20, items: trees } }
  GET /trees/{id}: { does: read tree, etag: strong }
  PATCH /trees/{id}: { does: update tree, if_match: required }
  POST /trees/{id}/fell: { does: fell tree }
  DELETE /trees/{id}: { does: delete tree, in: [felled] }
authentication:
  schemes: { mark: { type: api_key, header: Authorization, prefix: Mark, generate: "mark_{random:24}" } }
  permissions: [{ allow: [all tree], to: curator }]
events: none
errors:
  order: [caller, user, parameters, body, row, precondition, request, state]
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    bad: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    taken: { status: 409, when: resource.exists }
    wrong_state: { status: 409, when: transition.illegal }
    stale: { status: 412, when: precondition.failed }
    tagless: { status: 428, when: precondition.required }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
`;

test('rows that few values tell apart make room for those of other cases', async () => {
  const answers = { made: 0, taken: 0 };
  const stand = await openStand(trees, {
    spoil: ({ method, target, status }) => {
      if (method === 'POST' && target === '/trees' && status === 201) answers.made += 1;
      if (method === 'POST' && target === '/trees' && status === 409) answers.taken += 1;
      return {};
    },
  });
  try {
    const { breaches, facts } = await stand.verify({ only: ['resources', 'endpoints', 'errors', 'states'] });
    assert.deepEqual(breaches, []);
    // More than there are places at a time, which are 48.
    assert.ok(answers.made > 64 && answers.taken < answers.made, JSON.stringify(answers));
    const order = facts.find(({ kind, subject }) => kind === 'conditions' && subject === 'order');
    assert.equal(order?.verdict, 'held', order?.why);
  } finally {
    await stand.close();
  }
});

test('how many texts a pattern admits is counted where that is plain', () => {
  assert.deepEqual(['^[A-H]$', '^(a|bc?)$', '^[0-9]{2}-x$', '^[a-z]+$', '[A-H]', '^é$', '^[ab]{0,2}$'].map(textsOf), [
    8,
    3,
    100,
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    7,
  ]);
});
