import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../src/index.ts';
import type { GivenCaller } from '../src/verify/exchange/callers.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Whoever keeps the huts of a district lets their beds: a booking is made through a night and a room of a hut that is open, and what somebody waits for is given up by others. */
const huts = `
title: Huts
purpose: { purpose: Lets beds., users: { hiker: Sleeps., warden: Keeps the huts of a district., office: Keeps the list. } }
resources:
  district:
    identifier: { field: code, generate: client }
    fields: { code: { type: string, pattern: "^[a-z]{3,12}$" }, name: { type: string, minLength: 2, maxLength: 40 } }
    required: [code, name]
  hut:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      district: { ref: district, onDelete: restrict }
      section: { type: string, minLength: 2, maxLength: 20 }
      season: { type: string, readOnly: true }
    required: [id, district, section, season]
  room:
    identifier: { field: id, generate: uuid }
    fields: { id: string, hut: { ref: hut, immutable: true }, name: { type: string, minLength: 2, maxLength: 40 } }
    required: [id, hut, name]
  night:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      room: { ref: room, immutable: true }
      places: { type: integer, minimum: 1, maximum: 40 }
      free: { type: integer, derive: "resource.places - sum(booking.night, item.party, item.status == 'held')" }
    required: [id, room, places, free]
  booking:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      night: { ref: night, immutable: true }
      party: { type: integer, minimum: 1, maximum: 9, immutable: true }
      status: { type: string, readOnly: true }
    required: [id, night, party, status]
states:
  district: none
  room: none
  night: none
  hut: { field: season, initial: shut, states: [shut, open], transitions: { open: shut -> open } }
  booking:
    field: status
    initial: [{ if: "next.night.free >= next.party", state: held }, { state: waiting }]
    states: [waiting, held]
    transitions: { promote: { from: waiting, to: held, if: { if: "resource.night.free >= resource.party", else: no_room } } }
endpoints:
  PUT /districts/{code}: { does: upsert district }
  GET /districts/{code}: { does: read district, etag: strong }
  POST /huts: { does: create hut }
  GET /huts: { does: list hut, ties: newest }
  GET /huts/{id}: { does: read hut }
  PATCH /huts/{id}: { does: update hut }
  POST /huts/{id}/open: { does: open hut }
  POST /rooms: { does: create room }
  GET /rooms/{id}: { does: read room }
  POST /nights: { does: create night }
  GET /nights/{id}: { does: read night }
  PATCH /nights/{id}: { does: update night, if_match: accepted }
  POST /bookings: { does: create booking }
  GET /bookings/{id}: { does: read booking }
  POST /bookings/{id}/promote: { does: promote booking }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  attributes: { section: Its part of the club., district: Where it is at home. }
  permissions:
    - { allow: [read district, list hut, read hut, read room, read night], to: anyone }
    - { allow: [upsert district, create hut], to: office }
    - { allow: [update hut], to: warden, if: "resource.district == caller.district" }
    - { allow: [open hut], to: [office, warden] }
    - { allow: [create room], to: warden, if: "next.hut.section == caller.section" }
    - { allow: [create night], to: warden, if: "next.room.hut.section == caller.section" }
    - { allow: [update night], to: warden }
    - { allow: [create booking, read booking], to: hiker }
    - { allow: [promote booking], to: warden }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: [request.invalid, request.parameter] }
    unreadable: { status: 400, when: request.malformed }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    nobody: { status: 401, when: caller.unknown }
    denied: { status: 403, when: caller.forbidden }
    not_now: { status: 409, when: transition.illegal }
    stale: { status: 412, when: precondition.failed }
    no_room: { status: 409 }
    shut: { status: 409, on: [create booking], if: "next.night.room.hut.season != 'open'" }
limits: { rate: none, quota: none, size: none, pagination: { style: cursor, cursor: from, size: limit, default: 20, max: 50, items: rows, next: next } }
versioning: { versions: none }
`;

/** Two of each user, of whom each belongs where one of the others does. */
async function atHome(service: Service): Promise<readonly GivenCaller[]> {
  const all = ['hiker', 'warden', 'office'].flatMap((user) =>
    [
      { section: 'Uto', district: 'oberland' },
      { section: 'Bern', district: 'unterland' },
    ].map((attributes) => ({ user, attributes })),
  );
  return Promise.all(
    all.map(async ({ user, attributes }) => {
      const id = `${user}-of-${attributes.district}`;
      const { secret } = (await service.administer('keys add', { user, id, attributes })) as { secret: string };
      return { user, id, scheme: 'key', credential: secret, attributes };
    }),
  );
}

/** What trials say of a service over another document, or behind a spoiler: the facts that are broken, and those that are held. */
async function said(only: readonly string[], options: StandOptions = {}) {
  const stand = await openStand(huts, { besides: atHome, ...options });
  try {
    const callers = stand.callers.filter(({ id = '' }) => id.includes('-of-'));
    const { breaches, facts } = await stand.verify({ callers, only });
    const looks = facts.flatMap(({ kind, subject, evidence }) =>
      (evidence?.looks ?? []).filter(({ isMet }) => isMet).map(({ name }) => `${kind}, ${subject}: ${name}`),
    );
    return { broken: [...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))].sort(), looks };
  } finally {
    await stand.close();
  }
}

const served = (from: string, to: string): StandOptions => {
  assert.ok(huts.includes(from), from);
  return { served: huts.replace(from, to) };
};

test('what an error asks of a row three references away is brought about, and so is what a rule asks of it', async () => {
  const { broken, looks } = await said(['states/transitions']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('states, booking: held'), looks.join('\n'));
});

test('more room is made for whoever waits, by changing what it waits for', async () => {
  const { looks } = await said(['states/transitions']);
  assert.ok(looks.includes('transitions, booking: promote from waiting'), looks.join('\n'));
});

test('a reference that a rule holds against who asks names the row of that name, which is made where it is not there', async () => {
  const { broken, looks } = await said(['authentication/rows']);
  assert.deepEqual(broken, []);
  assert.ok(
    looks.some((one) => one.startsWith('permission rules, update hut: a warden, let in')),
    looks.join('\n'),
  );
  const lax = served(
    `- { allow: [update hut], to: warden, if: "resource.district == caller.district" }`,
    '- { allow: [update hut], to: warden }',
  );
  assert.deepEqual((await said(['authentication/rows'], lax)).broken, ['permission rules, update hut']);
});

test('the newest come first where that is all that is said of their order', async () => {
  assert.deepEqual((await said(['endpoints/lists'])).broken, []);
  const other = served('{ does: list hut, ties: newest }', '{ does: list hut }');
  assert.deepEqual((await said(['endpoints/lists'], other)).broken, ['response payload shapes, GET /huts']);
});

test('a tag is found among several, made weak, and whatever it is, and another is not taken for it', async () => {
  const trial = ['endpoints/accepts', 'endpoints/preconditions'];
  assert.deepEqual((await said(trial)).broken, []);
  const first = (value: unknown) => String(value).split(',')[0];
  const bend: StandOptions['bend'] = ({ headers }) =>
    headers['if-none-match'] === undefined ? {} : { headers: { ...headers, 'if-none-match': first(headers['if-none-match']) } };
  assert.deepEqual((await said(trial, { bend })).broken, ['response payload shapes, GET /districts/{code}']);
});
