import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const answered = '{ if: has(resource.doubtful) && resource.doubtful, state: fired, answer: doubted }';

/** Two targets of one transition lead to one state, and one of them is answered with an error; pages say more than their rows. */
const kiln = `title: Kiln
purpose: { purpose: Fires pots., users: { potter: Brings them. } }
resources:
  pot:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, readOnly: true }
      name: { type: string, minLength: 1, maxLength: 20 }
      doubtful: { type: boolean }
      stage: { type: string, readOnly: true }
    required: [id, name, stage]
states:
  pot:
    field: stage
    initial: wet
    states: [wet, fired]
    transitions:
      fire: { from: wet, to: [${answered}, { state: fired }] }
endpoints:
  POST /pots: { does: create pot }
  GET /pots: { does: list pot }
  GET /pots/{id}: { does: read pot }
  DELETE /pots/{id}: { does: delete pot }
  POST /pots/{id}/fire: { does: fire pot }
authentication: none
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    not_now: { status: 409, when: transition.illegal }
    doubted: { status: 402 }
limits:
  rate: none
  pagination: { style: cursor, cursor: from, size: many, default: 2, max: 4, items: pots, next: next, has_more: more, total: total, data: { object: page } }
versioning: { versions: none }
`;

test('of two targets that lead to one state, the one that is taken says what is answered', async () => {
  const stand = await openStand(kiln);
  try {
    const { breaches, facts } = await stand.verify({ only: ['transitions:pot', 'response payload shapes:GET /pots'] });
    assert.deepEqual(
      breaches.map(({ id }) => id),
      [],
    );
    assert.equal(facts.find(({ kind, subject }) => kind === 'transitions' && subject === 'pot')?.verdict, 'held');
  } finally {
    await stand.close();
  }
});

const list = 'response payload shapes:GET /pots';
servedOtherwise(kiln, [
  ['what is doubted is answered as if it were not', ', answer: doubted }', ' }', 'transitions:pot', /from wet/],
  [
    'what is not doubted is answered as if it were',
    '{ state: fired }]',
    '{ state: fired, answer: doubted }]',
    'transitions:pot',
    /from wet/,
  ],
  ['pages do not say whether there are more', ' has_more: more,', '', list, /^envelope, more/],
  ['pages do not say how many there are', ' total: total,', '', list, /^envelope, total/],
  ['a constant of pages is another', 'object: page', 'object: pages', list, /^envelope, object/],
]);
