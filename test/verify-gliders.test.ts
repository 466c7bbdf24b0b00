import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../src/index.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

/** A gliding club: one member of each login, days on which is flown once they are open, vouchers of those who fly on them. */
const club = `title: Gliding club
purpose: { purpose: Has gliders fly., users: { pilot: Flies., marshal: Runs the field. } }
resources:
  member:
    identifier: { field: number, generate: integer }
    fields: { number: integer, login: { type: string, pattern: "^[a-z][a-z0-9-]{1,19}$", immutable: true }, name: { type: string, minLength: 1, maxLength: 60 } }
    required: [number, login, name]
    unique: [[login]]
  day:
    identifier: { field: id, generate: uuid }
    fields: { id: string, date: { type: string, format: date, immutable: true }, state: { type: string, readOnly: true } }
    required: [id, date, state]
    unique: [[date]]
  voucher:
    identifier: { field: id, generate: uuid }
    fields: { id: string, holder: { ref: member, immutable: true }, state: { type: string, readOnly: true } }
    required: [id, holder, state]
  flight:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      day: { ref: day, immutable: true }
      pilot: { ref: member, immutable: true }
      voucher: { ref: voucher }
      phase: { type: string, readOnly: true }
    required: [id, day, pilot, phase]
  hook:
    identifier: { field: id, generate: uuid }
    fields: { id: string, url: { type: string, format: uri, maxLength: 200 } }
    required: [id, url]
states:
  member: none
  hook: none
  day: { field: state, initial: planned, states: [planned, open], transitions: { open: { from: planned, to: open } } }
  voucher: { field: state, initial: issued, states: [issued, spent], transitions: { spend: { from: issued, to: spent } } }
  flight:
    field: phase
    initial: queued
    states: [queued, airborne, landed]
    transitions:
      launch: { from: queued, to: airborne, then: { do: spend voucher, to: "has(next.voucher) ? next.voucher : null" } }
      land: { from: airborne, to: landed }
endpoints:
  POST /members: { does: create member }
  GET /members: { does: list member }
  GET /members/{number}: { does: read member }
  POST /days: { does: create day }
  GET /days/{id}: { does: read day }
  POST /days/{id}/open: { does: open day }
  POST /vouchers: { does: create voucher }
  GET /vouchers/{id}: { does: read voucher }
  POST /flights: { does: create flight }
  GET /flights/{id}: { does: read flight }
  POST /flights/{id}/launch: { does: launch flight }
  POST /flights/{id}/land: { does: land flight }
  POST /hooks: { does: create hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [all member, all day, create voucher, create flight, all hook], to: marshal }
    - { allow: [read voucher], to: marshal }
    - { allow: [create flight, read day, read member, list member, read voucher], to: pilot }
    - { allow: [read flight, launch flight, land flight], to: pilot, if: resource.pilot.login == caller.id }
events:
  delivery: { webhook: { signature: none, retry: [5s], timeout: 2s, subscribers: { resource: hook, url: url } } }
  kinds: { voucher.spent: { on: [spend voucher], payload: voucher } }
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    taken: { status: 409, when: resource.exists }
    not_now: { status: 409, when: transition.illegal }
    day_not_open: { status: 409, on: launch flight, if: "resource.day.state != 'open'", message: The day is not open. }
    not_the_holder: { status: 422, on: create flight, if: "has(next.voucher) && next.voucher.holder != next.pilot", message: The voucher is somebody else's. }
limits: { rate: none, pagination: { style: page, page: page, size: take, default: 20, max: 50, items: rows } }
versioning: none
`;

async function pilots(service: Service) {
  const all = ['anna', 'ben'].map(async (id) => {
    const { secret } = (await service.administer('keys add', { user: 'pilot', id })) as { secret: string };
    return { user: 'pilot', id, scheme: 'key', credential: secret };
  });
  return Promise.all(all);
}

async function told(only: readonly string[], options: StandOptions = {}) {
  const stand = await openStand(club, { besides: pilots, serve: { allowPrivateWebhooks: true }, ...options });
  try {
    const callers = stand.callers.filter(({ user, id = '' }) => user === 'marshal' || ['anna', 'ben'].includes(id));
    const { breaches, facts } = await stand.verify({ callers, only });
    const looks = facts.flatMap(({ kind, subject, evidence }) =>
      (evidence?.looks ?? []).map(({ name, isMet }) => `${kind}, ${subject}: ${name}${isMet ? '' : ', not met'}`),
    );
    return { broken: [...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))].sort(), looks };
  } finally {
    await stand.close();
  }
}

test('of each person one row is made, which others refer to, and what an error of an act asks of a row is brought about', async () => {
  const { broken, looks } = await told(['states/transitions', 'authentication/rows']);
  assert.deepEqual(broken, []);
  for (const look of ['launch from queued', 'land from airborne'])
    assert.ok(looks.includes(`transitions, flight: ${look}`), looks.filter((one) => one.startsWith('transitions')).join('\n'));
  assert.ok(looks.includes('permission rules, launch flight: a pilot, let in'));
});

test('a voucher is of the pilot who flies on it, and what follows of one that need not be there is expected of nobody', async () => {
  const { broken, looks } = await told(['states/following', 'events/following', 'resources/stored']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('transitions, flight: spend voucher follows launch flight'), looks.join('\n'));
});
