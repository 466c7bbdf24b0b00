import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** The clock opens a contest at its time, so that one whose time is over is open as soon as it is made. */
const contests = `title: Contests
purpose: { purpose: Holds contests., users: { steward: Calls them. } }
resources:
  contest:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      name: { type: string, minLength: 2, maxLength: 40 }
      opens_at: { type: string, format: date-time }
      state: { type: string, readOnly: true }
    required: [id, name, opens_at, state]
states:
  contest:
    field: state
    initial: announced
    states: [announced, running]
    transitions: { open: { from: announced, to: running, at: resource.opens_at } }
endpoints:
  POST /contests: { does: create contest }
  GET /contests: { does: list contest, parameters: { state: { in: query } }, order: opens_at }
  GET /contests/{id}: { does: read contest }
  PATCH /contests/{id}: { does: update contest, in: [announced] }
authentication: none
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    odd: { status: 400, when: request.parameter }
    missing: { status: 404, when: resource.missing }
    not_now: { status: 409, when: transition.illegal }
limits: { rate: none }
versioning: { versions: none }
`;

test('what the clock would move on at once is made with a later time', async () => {
  const stand = await openStand(contests);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    const filtered = facts.find(({ kind, subject }) => kind === 'parameters' && subject === 'GET /contests');
    const looks = (filtered?.evidence?.looks ?? []).filter(({ name }) => name.startsWith('filter state'));
    assert.notEqual(looks.length, 0);
    assert.deepEqual(
      looks.filter(({ isMet }) => !isMet),
      [],
    );
  } finally {
    await stand.close();
  }
});
