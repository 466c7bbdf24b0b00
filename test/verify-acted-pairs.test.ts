import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Orders of paper, of which nothing is told until they are placed. */
const mill = `title: Paper mill
purpose: { purpose: Makes paper to order., users: { stationer: Orders paper. } }
resources:
  order:
    identifier: { field: id, generate: uuid }
    fields: { id: string, sheets: { type: integer, minimum: 1, maximum: 500 }, state: { type: string, readOnly: true } }
    required: [id, sheets, state]
  hook:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      url: { type: string, format: uri, maxLength: 200 }
      kinds: { type: array, items: { type: string }, minItems: 1, maxItems: 3 }
      live: { type: boolean, default: true }
    required: [id, url, kinds, live]
states:
  hook: none
  order:
    field: state
    initial: drafted
    states: [drafted, placed, sent]
    transitions: { place: { from: drafted, to: placed }, send: { from: placed, to: sent } }
endpoints:
  POST /orders: { does: create order }
  GET /orders/{id}: { does: read order }
  POST /orders/{id}/place: { does: place order }
  POST /orders/{id}/send: { does: send order }
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  PATCH /hooks/{id}: { does: update hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all order, all hook], to: stationer }]
events:
  delivery: { webhook: { signature: none, retry: [10s, 60s], timeout: 2s, subscribers: { resource: hook, url: url, events: kinds, enabled: live } } }
  kinds:
    order.placed: { on: [place order], payload: order }
    order.sent: { on: [send order], payload: order }
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    not_now: { status: 409, when: transition.illegal }
limits: { rate: none }
versioning: none
`;

async function told(options: StandOptions = {}) {
  const stand = await openStand(mill, { serve: { allowPrivateWebhooks: true }, ...options });
  try {
    const only = ['events/delivered', 'events/tries', 'endpoints/bodies'];
    const { breaches, facts } = await stand.verify({ only });
    const looks = facts.flatMap(({ kind, subject, evidence }) =>
      (evidence?.looks ?? []).map(({ name, isMet }) => `${kind}, ${subject}: ${name}${isMet ? '' : ', not met'}`),
    );
    return { broken: [...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))].sort(), looks };
  } finally {
    await stand.close();
  }
}

test('deliveries are tried again of acts where nothing that is made is told of', async () => {
  const { broken, looks } = await told();
  assert.deepEqual(broken, []);
  for (const look of ['a delivery that is refused, again', 'a subscriber of some kinds'])
    assert.ok(
      looks.includes(`delivery mechanism, service: ${look}`),
      looks.filter((one) => one.startsWith('delivery')).join('\n'),
    );
  assert.ok(looks.includes('allowed values, hook.kinds: of 3 items, taken at POST /hooks'));
  const once = { served: mill.replace('retry: [10s, 60s]', 'retry: none') };
  assert.ok((await told(once)).broken.includes('delivery mechanism, service'));
});
