import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Rooms full of riddles: a booking holds its slot, which may be deleted while it is free alone, and spends its voucher once it is confirmed. */
const house = `title: Riddle house
purpose: { purpose: Has people guess., users: { host: Lets people in. } }
resources:
  slot:
    identifier: { field: id, generate: uuid }
    fields: { id: string, room: { type: string, minLength: 2, maxLength: 40 }, state: { type: string, readOnly: true } }
    required: [id, room, state]
  voucher:
    identifier: { field: id, generate: uuid }
    fields: { id: string, state: { type: string, readOnly: true } }
    required: [id, state]
  booking:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      slot: { ref: slot, immutable: true, onDelete: restrict }
      voucher: { ref: voucher, immutable: true }
      party: { type: string, enum: [friends, family] }
      state: { type: string, readOnly: true }
    required: [id, slot, party, state]
    created: { then: { do: hold slot, to: next.slot } }
  prop:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, minLength: 2, maxLength: 40 }, kind: { enum: [padlock, projector, costume], default: padlock } }
    required: [id, name, kind]
  hook:
    identifier: { field: id, generate: uuid }
    fields: { id: string, url: { type: string, format: uri, maxLength: 200 }, kinds: { type: array, items: string, maxItems: 5 } }
    required: [id, url]
states:
  prop: none
  hook: none
  slot: { field: state, initial: free, states: [free, held], transitions: { hold: { from: free, to: held, by: service } } }
  voucher: { field: state, initial: active, states: [active, spent], transitions: { spend: { from: active, to: spent, by: service } } }
  booking:
    field: state
    initial: held
    states: [held, confirmed]
    transitions: { confirm: { from: held, to: confirmed, then: { do: spend voucher, to: "has(next.voucher) ? next.voucher : null" } } }
endpoints:
  POST /slots: { does: create slot }
  GET /slots/{id}: { does: read slot }
  DELETE /slots/{id}: { does: delete slot, in: [free] }
  POST /vouchers: { does: create voucher }
  GET /vouchers/{id}: { does: read voucher }
  POST /bookings: { does: create booking }
  GET /bookings: { does: list booking }
  GET /bookings/{id}: { does: read booking }
  POST /bookings/{id}/confirm: { does: confirm booking }
  POST /props: { does: create prop }
  GET /props/{id}: { does: read prop }
  PUT /props/{id}: { does: replace prop }
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  PATCH /hooks/{id}: { does: update hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all slot, all voucher, all booking, all prop, all hook], to: host }]
events:
  delivery: { webhook: { signature: none, retry: [5s], timeout: 2s, subscribers: { resource: hook, url: url, events: kinds } } }
  kinds: { booking.made: { on: [create booking], payload: booking } }
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    taken: { status: 409, when: [resource.exists, reference.held] }
    not_now: { status: 409, when: transition.illegal }
    voucher_dead: { status: 409, on: create booking, if: "has(next.voucher) && next.voucher.state != 'active'", message: This voucher is spent. }
limits: { rate: none, pagination: { style: page, page: page, size: take, default: 20, max: 50, items: rows } }
versioning: none
`;

async function told(only: readonly string[], options: StandOptions = {}) {
  const stand = await openStand(house, { serve: { allowPrivateWebhooks: true }, ...options });
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

test('what is referred to, and is in a state in which it is not deleted for that, is not said to be refused for the wrong thing', async () => {
  assert.deepEqual((await told(['resources/references'])).broken, []);
});

test('a creation that is refused is not taken for what was made with the same voucher before', async () => {
  const { broken, looks } = await told(['errors/own']);
  assert.deepEqual(broken, []);
  assert.ok(
    looks.some((one) => one.startsWith('conditions, voucher_dead') && !one.endsWith('not met')),
    looks.join('\n'),
  );
});

test('a subscriber that asked for some kinds asks for all of them again', async () => {
  const { broken, looks } = await told(['resources/changed']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('allowed values, hook.kinds: taken away by PATCH /hooks/{id}'), looks.join('\n'));
});

test('what replaces a row without a field that has a default has the default, whatever was there', async () => {
  assert.deepEqual((await told(['resources/changed'])).broken, []);
  const bend: StandOptions['bend'] = ({ method, target, text }) => {
    if (method !== 'PUT' || !target.startsWith('/props/')) return {};
    const sent = JSON.parse(text) as { kind?: string };
    return sent.kind === undefined ? { text: JSON.stringify({ ...sent, kind: 'costume' }) } : {};
  };
  assert.deepEqual((await told(['resources/changed'], { bend })).broken, ['allowed values, prop.kind']);
});
