import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Boxes with a word that nobody is shown, and things that they are made with; each box has a first one besides, and a log of five rows a page says so. */
const boxes = `
purpose: { users: { keeper: Keeps boxes. } }
resources:
  box:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      label: { type: string, pattern: "^[a-z]{1,12}$" }
      word: { type: string, pattern: "^[a-z]{1,12}$", writeOnly: true }
      colour: { type: string, maxLength: 9 }
      things: { children: thing.box, order: -size, page: 9, maxItems: 5, taken_by: [create, replace] }
    required: [id, label]
    unique: [[word, label]]
    created: { then: { create: thing, set: { box: next.id, name: "'first'", size: "2" } } }
  thing:
    identifier: { field: id, generate: uuid }
    fields: { id: string, box: { ref: box, onDelete: cascade, immutable: true }, name: { type: string, pattern: "^[a-z]{1,12}$" }, size: { type: integer, minimum: 0, maximum: 9 } }
    required: [id, box, name, size]
  entry:
    identifier: { field: id, generate: "evt_{random:24}" }
    fields: { id: string, kind: { type: string, readOnly: true }, data: { type: object, readOnly: true } }
    required: [id]
states: none
endpoints:
  POST /boxes: { does: create box }
  GET /boxes: { does: list box }
  GET /boxes/{id}: { does: read box }
  PUT /boxes/{id}: { does: replace box }
  GET /entries: { does: list entry }
  GET /entries/{id}: { does: read entry }
authentication: none
events:
  kinds: { box.made: { on: [create box], payload: box } }
  log: { resource: entry, keep: 30d, set: { kind: event.kind, data: { object: event.payload } } }
errors: { payload: problem, codes: { invalid: { status: 422, when: request.invalid }, missing: { status: 404, when: [resource.missing, route.unknown] }, taken: { status: 409, when: resource.exists } } }
limits: { rate: none, quota: none, pagination: { style: cursor, cursor: cursor, size: size, default: 1, max: 1, items: rows, next: next } }
versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Version, default: current }
  changes: { "1": none, "2": [{ rename: box.tint, to: colour }] }
`;

/** Pages of one row each, more of them than are read. */
const before = Array.from({ length: 70 }, (_, n) => ({ id: `evt_${String(n).padStart(24, '0')}`, kind: 'box.made' }));

const trials = [
  ['of several replacements none is like another where what is alike is hidden and stays as it was', 'resources/unique raced'],
  ['children stand in an order of their own, beside those that follow from the creation', 'versioning/shapes'],
  ['what is in a log behind all pages that are read is not missed', 'events/logged'],
] as const;

for (const [what, trial] of trials)
  test(`${what}: ${trial} says nothing against it`, async () => {
    const stand = await openStand(boxes, { serve: { rows: { entry: before } } });
    try {
      const { breaches, unsteady, requests } = await stand.verify({ only: [trial] });
      assert.deepEqual([...breaches, ...unsteady], []);
      assert.ok(requests > 0);
    } finally {
      await stand.close();
    }
  });
