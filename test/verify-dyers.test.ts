import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bent, openStand, type StandOptions } from './verify/stand.ts';

/** A dye house: orders go into a vat that is ready, and are dyed once it is spent. */
const house = `title: Dye house
purpose: { purpose: Dyes yarn., users: { dyer: Dyes. } }
resources:
  vat:
    identifier: { field: id, generate: uuid }
    fields: { id: string, litres: { type: integer, minimum: 10, maximum: 900 }, stage: { type: string, readOnly: true } }
    required: [id, litres, stage]
  order:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      grams: { type: integer, minimum: 50, maximum: 5000 }
      vat: { ref: vat, readOnly: true, set: { assign: request.vat } }
      note: { type: string, maxLength: 40 }
      dyed_at: { type: string, format: date-time, readOnly: true, set: { finish: now } }
      state: { type: string, readOnly: true }
    required: [id, grams, state]
states:
  vat:
    field: stage
    initial: cold
    states: [cold, ready, spent]
    transitions:
      heat: { from: cold, to: ready }
      exhaust: { from: ready, to: spent, then: { do: finish order, each: order.vat, else: skip } }
  order:
    field: state
    initial: placed
    states: [placed, dyeing, dyed, collected]
    transitions:
      assign: { from: placed, to: dyeing, if: { if: "has(find(vat, { id: request.vat })) && find(vat, { id: request.vat }).stage == 'ready'", else: vat_not_ready } }
      finish: { from: dyeing, to: dyed }
      collect: { from: dyed, to: collected }
endpoints:
  POST /vats: { does: create vat }
  GET /vats: { does: list vat, parameters: { sort: { in: query, sorts: true, shape: { enum: [litres, -litres] } } } }
  GET /vats/{id}: { does: read vat }
  PATCH /vats/{id}: { does: update vat }
  POST /vats/{id}/heat: { does: heat vat }
  POST /vats/{id}/exhaust: { does: exhaust vat }
  POST /orders: { does: create order }
  GET /orders/{id}: { does: read order }
  PATCH /orders/{id}: { does: update order, in: [placed] }
  POST /orders/{id}/assign:
    does: assign order
    request: { type: object, properties: { vat: { type: string, maxLength: 60 } }, required: [vat] }
  POST /orders/{id}/collect: { does: collect order }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all vat, all order], to: dyer }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    not_now: { status: 409, when: transition.illegal }
    vat_not_ready: { status: 409, message: The vat is not ready. }
    no_edition: { status: 400, when: version.unknown }
limits:
  rate: none
  pagination: { style: page, page: page, size: take, default: 10, max: 40, items: rows, total: of }
versioning:
  versions: { v1: {}, v2: { current: true } }
  select: { header: X-Edition, default: current }
  guarantee: additive
  changes: { v2: [{ rename: order.weight, to: grams }] }
`;

async function told(only: readonly string[], options: StandOptions = {}, others = 0) {
  const stand = await openStand(house, options);
  const [{ value } = { value: '' }] = stand.credentials;
  try {
    for (let made = 0; made < others; made++) {
      const headers = { 'content-type': 'application/json', 'x-key': value };
      await fetch(`${stand.url}/vats`, { method: 'POST', headers, body: JSON.stringify({ litres: 10 }) });
    }
    const { breaches, facts } = await stand.verify({ only });
    const looks = facts.flatMap(({ kind, subject, evidence }) =>
      (evidence?.looks ?? []).map(({ name, isMet }) => `${kind}, ${subject}: ${name}${isMet ? '' : ', not met'}`),
    );
    return { broken: [...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))].sort(), looks };
  } finally {
    await stand.close();
  }
}

const bent = (bend: (request: Bent) => Partial<Bent>): StandOptions => ({ bend });

test('what is sent to be looked up is a row as the condition asks for it, and what becomes of a row becomes of those that refer to it', async () => {
  const { broken, looks } = await told(['transitions:order', 'states/transitions']);
  assert.deepEqual(broken, []);
  for (const look of ['assign from placed', 'collect from dyed'])
    assert.ok(looks.includes(`transitions, order: ${look}`), looks.filter((one) => one.startsWith('transitions')).join('\n'));
});

test('what only later states have is not looked for in a change that is made before', async () => {
  const { looks } = await told(['resources/changed']);
  assert.ok(!looks.some((one) => one.startsWith('allowed values, order.dyed_at: kept')), looks.join('\n'));
  assert.ok(looks.includes('allowed values, order.grams: kept by PATCH /orders/{id}'));
});

test('a change that names no version is made in the newest', async () => {
  const only = ['versioning/there'];
  assert.deepEqual((await told(only)).broken, []);
  const isUnnamed = ({ method, headers }: Bent) => method !== 'GET' && headers['x-edition'] === undefined;
  const inOldest = bent((request) => (isUnnamed(request) ? { headers: { ...request.headers, 'x-edition': 'v1' } } : {}));
  assert.ok((await told(only, inOldest)).broken.length > 0);
});

test('a version in other letters is none', async () => {
  const only = ['versioning/selected'];
  assert.deepEqual((await told(only)).broken, []);
  const inAnyCase = bent(({ headers }) => {
    const edition = headers['x-edition'];
    return typeof edition === 'string' ? { headers: { ...headers, 'x-edition': edition.toLowerCase() } } : {};
  });
  assert.deepEqual((await told(only, inAnyCase)).broken, ['version selection, service']);
});

test('a list that others fill is sorted where its rows differ, page after page, and counted as a whole', async () => {
  const { broken, looks } = await told(['endpoints/lists', 'endpoints/shared pages'], {}, 190);
  assert.deepEqual(broken, []);
  for (const look of ['parameters, GET /vats: sorted by litres, page after page', 'pagination bounds, GET /vats: a total'])
    assert.ok(looks.includes(look), looks.join('\n'));
});
