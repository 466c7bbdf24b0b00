import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Hides are ordered once they are tanned, and at a price; a batch starts once its hide is soaked, in a pit that is wide enough. */
const leather = `
title: Leather
purpose:
  purpose: Sells leather.
  base_url: https://leather.example
  users: { tanner: Tans., buyer: Buys. }
  functions: none
resources:
  pit:
    identifier: { field: code, generate: client }
    fields: { code: { type: string, pattern: "^[a-z][a-z0-9-]{1,19}$" }, litres: { type: integer, minimum: 100, maximum: 900 } }
    required: [code, litres]
  hide:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      tag: { type: string, pattern: "^[A-Z]{2}-[0-9]{4}$" }
      cents: { type: integer, minimum: 0, maximum: 900, default: 0 }
      status: { type: string, readOnly: true }
    required: [id, owner, tag, cents, status]
  batch:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      hide: { ref: hide, onDelete: restrict, immutable: true }
      pit: { ref: pit, onDelete: restrict }
      status: { type: string, readOnly: true }
    required: [id, hide, pit, status]
  order:
    identifier: { field: id, generate: uuid }
    fields: { id: string, hide: { ref: hide, onDelete: restrict, immutable: true } }
    required: [id, hide]
states:
  pit: none
  order: none
  hide: { field: status, initial: raw, states: [raw, soaked, tanned], transitions: { soak: raw -> soaked, tan: soaked -> tanned } }
  batch:
    field: status
    initial: planned
    states: [planned, running]
    transitions: { start: { from: planned, to: running, if: "resource.hide.status == 'soaked'" } }
endpoints:
  POST /pits: { does: create pit }
  PUT /pits/{code}: { does: upsert pit }
  GET /pits/{code}: { does: read pit }
  POST /hides: { does: create hide }
  GET /hides/{id}: { does: read hide }
  GET /hides: { does: list hide, parameters: { tagPrefix: { in: query, filters: tag, op: prefix } } }
  POST /hides/{id}/soak: { does: soak hide }
  POST /hides/{id}/tan: { does: tan hide }
  POST /batches: { does: create batch }
  GET /batches/{id}: { does: read batch }
  POST /batches/{id}/start: { does: start batch }
  POST /orders: { does: create order }
  GET /orders/{id}: { does: read order }
authentication:
  schemes: { key: { type: api_key, header: X-Key, placeholder: "{key}" } }
  public: none
  origins: none
  permissions:
    - { allow: [all pit, all batch], to: tanner }
    - { allow: [create hide], to: tanner }
    - { allow: [read hide, list hide, soak hide, tan hide], to: tanner, if: resource.owner == caller.id }
    - { allow: [read hide, list hide], to: buyer, if: "resource.status == 'tanned'" }
    - { allow: [create order, read order], to: buyer }
events: none
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    invalid: { status: 422, when: request.invalid }
    dangling: { status: 422, when: reference.missing }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    taken: { status: 409, when: resource.exists }
    wrong_state: { status: 409, when: transition.illegal }
    unpriced: { status: 409, on: [create order], if: next.hide.cents == 0 }
    narrow: { status: 409, on: [create batch], if: next.pit.litres < 200 }
limits:
  rate: none
  size: none
  timeout: none
  quota: none
  pagination: { style: cursor, cursor: cursor, size: limit, default: 20, max: 100, over_max: refuse, items: data, next: next }
`;

async function told(only: readonly string[], options: StandOptions = {}) {
  const stand = await openStand(leather, options);
  try {
    return await stand.verify({ only });
  } finally {
    await stand.close();
  }
}

const brokenIn = async (only: readonly string[], options: StandOptions) =>
  (await told(only, options)).breaches.map(({ kind, subject, reason }) => `${kind}: ${subject}, ${reason}`);

test('what a new row refers to is one that its maker may read, and whose transitions are open', async () => {
  const { breaches, facts } = await told(['resources/stored', 'endpoints/locations', 'states/transitions', 'states/conditions']);
  assert.deepEqual(breaches, []);
  const wanted = ['transitions: batch', 'response payload shapes: POST /orders', 'response payload shapes: POST /batches'];
  const verdicts = facts.filter(({ kind, subject }) => wanted.includes(`${kind}: ${subject}`));
  assert.deepEqual(
    verdicts.map(({ verdict, why }) => why ?? verdict),
    ['held', 'held', 'held'],
  );
});

test('a transition that is open to a row whatever it refers to is found', async () => {
  const served = leather.replace(`, if: "resource.hide.status == 'soaked'"`, '');
  assert.deepEqual(await brokenIn(['states/conditions'], { served }), ['transitions: batch, start blocked']);
});

test('a body that names something else than its path is refused, and so is what fits a pattern in other letters', async () => {
  assert.deepEqual(await brokenIn(['endpoints/bodies'], {}), []);
  const passedOver = await brokenIn(['request payload shapes:PUT /pits/{code}'], {
    bend: ({ method, target, text }) => {
      const code = target.split('/').at(-1) ?? '';
      return method === 'PUT' && text.includes('"code"') ? { text: JSON.stringify({ ...JSON.parse(text), code }) } : {};
    },
  });
  assert.ok(passedOver.includes('request payload shapes: PUT /pits/{code}, code beside the path'), passedOver.join('; '));
  const served = leather.replace('^[A-Z]{2}-[0-9]{4}$', '^[A-Za-z]{2}-[0-9]{4}$');
  assert.ok((await brokenIn(['allowed values:hide.tag'], { served })).some((one) => one.startsWith('allowed values: hide.tag')));
});

test('a filter by what a text begins with is asked for what stands in its midst', async () => {
  const served = leather.replace('op: prefix', 'op: contains');
  assert.deepEqual(await brokenIn(['endpoints/lists'], {}), []);
  assert.deepEqual(await brokenIn(['endpoints/lists'], { served }), ['parameters: GET /hides, filter tagPrefix']);
});
