import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Sheets take lines with a change, and members that nobody states. */
const document = `title: Lists
purpose: { purpose: Keeps lists., users: { clerk: Keeps them. } }
resources:
  sheet:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      word: { type: string, maxLength: 20 }
      lines: { children: line.of, order: size, page: 5, maxItems: 5, taken_by: [create, update] }
    required: [id, word]
    additionalProperties: true
  line:
    identifier: { field: id, generate: uuid }
    fields: { id: string, of: { ref: sheet, immutable: true, onDelete: cascade }, size: { type: integer, minimum: 0, maximum: 50 } }
    required: [id, of, size]
states: none
endpoints:
  POST /sheets: { does: create sheet }
  GET /sheets/{id}: { does: read sheet }
  PATCH /sheets/{id}: { does: update sheet }
authentication: none
events: none
errors: { payload: problem, codes: { wrong: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing } } }
limits: { rate: none }
versioning: { versions: none }
`;
test('children that a change takes are not held for what a service passes over, whatever else it takes', async () => {
  const stand = await openStand(document);
  try {
    const { breaches } = await stand.verify({ only: ['resources/changed'] });
    assert.deepEqual(
      breaches.map((b) => [b.id, b.seen]),
      [],
    );
  } finally {
    await stand.close();
  }
});
