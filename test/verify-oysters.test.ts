import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** An oyster farm: batches of clean water are cleared at once, others are soaked in a tank that has room, and inspections say what is over. */
const farm = `title: Oyster farm
purpose: { purpose: Has oysters grow., users: { grower: Grows. } }
resources:
  parcel:
    identifier: { field: id, generate: uuid }
    fields: { id: string, water: { enum: [A, B] } }
    required: [id, water]
  tank:
    identifier: { field: code, generate: client }
    fields:
      code: { type: string, pattern: "^T[0-9]{2}$" }
      capacity: { type: integer, minimum: 10, maximum: 9000 }
      load: { type: integer, derive: "sum(batch.tank, item.dozens, item.state == 'purifying')" }
    required: [code, capacity, load]
  batch:
    identifier: { field: number, generate: integer }
    fields:
      number: integer
      parcel: { ref: parcel, immutable: true }
      dozens: { type: integer, minimum: 1, maximum: 5000 }
      tank: { ref: tank, readOnly: true, set: { soak: request.tank } }
      state: { type: string, readOnly: true }
    required: [number, parcel, dozens, state]
  reading:
    identifier: none
    fields:
      amount: { type: number, minimum: 0, maximum: 1000 }
      over: { type: boolean, readOnly: true, set: { write: "value.amount > 230.0" } }
    required: [amount, over]
  inspection:
    identifier: { field: id, generate: uuid }
    fields: { id: string, readings: { type: array, items: { type: reading }, minItems: 1, maxItems: 4 }, verdict: { enum: [pass, fail] } }
    required: [id, readings, verdict]
    rules: { has_cause: { if: "next.verdict == 'fail' && !next.readings.exists(r, has(r.over) && r.over)", field: verdict, message: pass where nothing is over } }
states:
  parcel: none
  tank: none
  inspection: none
  batch:
    field: state
    initial: growing
    states: [growing, harvested, purifying, cleared]
    transitions:
      harvest: { from: growing, to: [{ if: "next.parcel.water == 'A'", state: cleared }, { state: harvested }] }
      soak:
        from: harvested
        to: purifying
        if: { if: "has(find(tank, { code: request.tank })) && find(tank, { code: request.tank }).load + resource.dozens <= find(tank, { code: request.tank }).capacity", else: tank_full }
endpoints:
  POST /parcels: { does: create parcel }
  GET /parcels/{id}: { does: read parcel }
  PUT /tanks/{code}: { does: upsert tank }
  GET /tanks/{code}: { does: read tank }
  POST /batches: { does: create batch }
  GET /batches: { does: list batch }
  GET /batches/{number}: { does: read batch }
  POST /batches/{number}/harvest: { does: harvest batch }
  POST /batches/{number}/soak: { does: soak batch, request: { type: object, properties: { tank: string }, required: [tank] } }
  POST /inspections: { does: create inspection }
  GET /inspections/{id}: { does: read inspection }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all parcel, all tank, all batch, all inspection], to: grower }]
events: none
errors:
  payload: problem
  codes:
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    not_now: { status: 409, when: transition.illegal }
    tank_full: { status: 409, message: The tank has no room for it. }
limits: { rate: none, pagination: { style: cursor, cursor: after, size: limit, default: 20, max: 100, items: items, next: next, has_more: more } }
versioning: none
`;

async function told(only: readonly string[], options: StandOptions = {}) {
  const stand = await openStand(farm, options);
  try {
    const { breaches, facts } = await stand.verify({ only });
    const looks = facts.flatMap(({ kind, subject, evidence }) =>
      (evidence?.looks ?? []).map(({ name, isMet }) => `${kind}, ${subject}: ${name}${isMet ? '' : ', not met'}`),
    );
    return { broken: [...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))].sort(), looks };
  } finally {
    await stand.close();
  }
}

test('what a row refers to decides which of several states it is led to, and a row that is sent has room for it', async () => {
  const { broken, looks } = await told(['states/transitions']);
  assert.deepEqual(broken, []);
  assert.ok(
    looks.includes('transitions, batch: soak from harvested'),
    looks.filter((one) => one.startsWith('transitions')).join('\n'),
  );
});

test('a rule over values of which the service makes more than is sent is held against nothing that is sent', async () => {
  const { broken } = await told(['allowed values']);
  assert.deepEqual(broken, []);
  // One that holds it against what it makes of them takes what is over, though nobody sends that it is.
  const made = farm.replace('!next.readings.exists(r, has(r.over) && r.over)', '!next.readings.exists(r, r.amount > 230.0)');
  assert.deepEqual((await told(['allowed values'], { served: made })).broken, []);
});

test('a number that is written otherwise names no row', async () => {
  const { broken } = await told(['resources/missing']);
  assert.deepEqual(broken, []);
  const bend: StandOptions['bend'] = ({ target }) => ({ target: target.replace(/^(\/batches\/)0+(?=[1-9])/, '$1') });
  const { broken: found } = await told(['resources/missing'], { bend });
  assert.deepEqual(found, ['identifiers, batch']);
});

test('the last page says nothing of a next one', async () => {
  const { broken, looks } = await told(['response payload shapes']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('response payload shapes, GET /batches: envelope, what comes next'), looks.join('\n'));
  const spoil: StandOptions['spoil'] = ({ target, text }) => {
    if (!/^\/batches(\?|$)/.test(target) || !text.startsWith('{')) return {};
    const body = JSON.parse(text) as { more?: boolean };
    return body.more === false ? { text: JSON.stringify({ ...body, next: 'WyJub25lIl0' }) } : {};
  };
  const { broken: found } = await told(['response payload shapes'], { spoil });
  assert.ok(found.includes('response payload shapes, GET /batches'), found.join('\n'));
});
