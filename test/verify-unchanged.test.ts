import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

const shelves = `
title: Shelves
resources:
  shelf:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      label: { type: string, minLength: 1, maxLength: 40 }
      note: { type: string, minLength: 1, maxLength: 20 }
      mark: { type: integer, minimum: 1, maximum: 99 }
      books: { type: integer, derive: "count(book.shelf)" }
      changed_at: { type: string, format: date-time, readOnly: true, set: { write: now } }
    required: [id, label, books, changed_at]
    one_of: [[note, mark]]
  book:
    identifier: { field: id, generate: uuid }
    fields: { id: string, shelf: { ref: shelf, onDelete: cascade } }
    required: [id, shelf]
states: none
endpoints:
  POST /shelves: { does: create shelf }
  GET /shelves/{id}: { does: read shelf }
  PATCH /shelves/{id}: { does: update shelf }
  DELETE /shelves/{id}: { does: delete shelf }
  POST /books: { does: create book }
  GET /books/{id}: { does: read book }
authentication: none
events: none
limits: { rate: none, pagination: none }
versioning: none
`;

test('a change of nothing sets nothing, also in a row of which something is derived of others', async () => {
  const stand = await openStand(shelves);
  try {
    const { breaches, facts } = await stand.verify({ only: ['resources'] });
    assert.deepEqual(
      breaches.map(({ subject, reason, seen }) => `${subject} ${reason}: ${seen}`),
      [],
    );
    const told = facts.find(({ kind, subject }) => kind === 'allowed values' && subject === 'shelf.changed_at');
    assert.equal(told?.verdict, 'held', told?.why);
  } finally {
    await stand.close();
  }
});
