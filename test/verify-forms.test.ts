import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

const notes = `
resources:
  page: { identifier: { field: id, generate: uuid }, fields: { id: string }, required: [id] }
  note:
    identifier: { field: id, generate: uuid }
    fields: { id: string, page: { ref: page, onDelete: clear }, status: { type: string, readOnly: true } }
    required: [id, status]
states:
  page: none
  note: { field: status, initial: [{ if: has(next.page), state: bound }, { state: loose }], states: [bound, loose], transitions: {} }
endpoints:
  POST /pages: { does: create page, consumes: [application/x-www-form-urlencoded] }
  POST /notes: { does: create note, consumes: [application/x-www-form-urlencoded] }
  GET /notes/{id}: { does: read note }
authentication: none
errors: { payload: problem, codes: {} }
`;

test('where a thing begins by what a form says of it, no state is expected of it that it does not begin in', async () => {
  const stand = await openStand(notes);
  try {
    const { breaches, unsteady } = await stand.verify({ requests: 400 });
    assert.deepEqual([...breaches, ...unsteady], []);
    assert.deepEqual(stand.failures, []);
  } finally {
    await stand.close();
  }
});
