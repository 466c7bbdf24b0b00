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
  ['children that follow from a creation stand beside those that are sent with it', 'resources/children'],
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

/** Tags are found by their name; an order whose card is doubted is there all the same, and is told of. */
const orders = `
purpose: { users: { clerk: Takes orders., guest: Looks. } }
resources:
  tag:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, pattern: "^[a-z]{1,12}$" } }
    required: [id, name]
    unique: [[name]]
  order:
    identifier: { field: id, generate: uuid }
    fields: { id: string, doubtful: { type: boolean, default: false }, status: { type: string, readOnly: true } }
    required: [id, doubtful, status]
states:
  tag: none
  order:
    field: status
    initial: new
    states: [new, doubted, sent]
    transitions:
      look: { from: [new, doubted], to: [{ if: next.doubtful, state: doubted, answer: doubted }, { state: sent }] }
endpoints:
  POST /tags: { does: create tag, exists: 200, idempotency: { header: Key, keep: 1h } }
  GET /tags/{id}: { does: read tag }
  POST /orders: { does: create order }
  GET /orders/{id}: { does: read order }
  PATCH /orders/{id}: { does: update order }
  POST /orders/{id}/look: { does: look order }
authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  accept: [key]
  permissions: [{ allow: [create tag, read tag, create order, read order, update order, look order, stream events], to: [clerk, guest] }]
events:
  delivery: { stream: { path: GET /stream, format: sse } }
  kinds: { order.looked_at: { on: [look order], payload: order }, tag.made: { on: [create tag], payload: tag } }
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    wrong_state: { status: 409, when: transition.illegal }
    taken: { status: 409, when: resource.exists }
    reused: { status: 422, when: idempotency.reused }
    doubted: { status: 402 }
`;

for (const [what, trial] of [
  ['who sends what somebody made already finds it, whatever key both sent', 'endpoints/idempotency'],
  ['what is kept though it is answered with an error is told of', 'events/refused'],
] as const)
  test(`${what}: ${trial} says nothing against it`, async () => {
    const stand = await openStand(orders);
    try {
      const { breaches, unsteady, requests } = await stand.verify({ only: [trial] });
      assert.deepEqual([...breaches, ...unsteady], []);
      assert.ok(requests > 0);
    } finally {
      await stand.close();
    }
  });
