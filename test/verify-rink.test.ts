import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../src/index.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

/** An ice rink: sessions that are put up by stewards, or by captains of a club, and booked while there is room; skates that are lent until they are blunt. */
const rink = `title: Ice rink
purpose: { purpose: Has people skate., users: { skater: Skates., steward: Runs the hall. } }
resources:
  club:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, minLength: 1, maxLength: 40 } }
    required: [id, name]
  membership:
    identifier: { field: id, generate: uuid }
    fields: { id: string, club: { ref: club, immutable: true }, person: { type: string, minLength: 1, maxLength: 60, immutable: true }, role: { enum: [captain, player], default: player } }
    required: [id, club, person, role]
    unique: [[club, person]]
  session:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      club: { ref: club }
      title: { type: string, minLength: 2, maxLength: 40 }
      places: { type: integer, minimum: 1, maximum: 400 }
      taken: { type: integer, derive: "sum(booking.session, item.people, item.status == 'paid')" }
      phase: { type: string, readOnly: true }
    required: [id, title, places, taken, phase]
  booking:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      session: { ref: session, immutable: true }
      skater: { type: string, readOnly: true, set: { create: caller.id } }
      people: { type: integer, minimum: 1, maximum: 8 }
      note: { type: string, maxLength: 60, visible: [steward], writable: [steward] }
      status: { type: string, readOnly: true }
    required: [id, session, skater, people, status]
  skate:
    identifier: { field: number, generate: integer }
    fields:
      number: integer
      size: { type: integer, minimum: 25, maximum: 50 }
      borrower: { type: string, readOnly: true, set: { lend: caller.id } }
      outings: { type: integer, readOnly: true, default: 0, set: { lend: "resource.outings + 1" } }
      status: { type: string, readOnly: true }
    required: [number, size, outings, status]
  locker:
    identifier: { field: id, generate: uuid }
    fields: { id: string, holder: { type: string, readOnly: true, set: { create: caller.id } }, door: { type: integer, minimum: 1, maximum: 90 }, label: { type: string, maxLength: 20 }, wide: { type: boolean } }
    required: [id, holder, door]
    unique: [[holder]]
states:
  club: none
  membership: none
  locker: none
  session: { field: phase, initial: draft, states: [draft, up], transitions: { announce: { from: draft, to: up } } }
  booking:
    field: status
    initial: held
    states: [held, paid]
    transitions: { pay: { from: held, to: paid, if: { if: "resource.session.taken + resource.people <= resource.session.places", else: full } } }
  skate:
    field: status
    initial: racked
    states: [racked, lent]
    transitions:
      lend: { from: racked, to: lent, if: { if: "resource.outings < 3", else: blunt } }
      return: { from: lent, to: racked }
endpoints:
  POST /clubs: { does: create club }
  GET /clubs: { does: list club, order: name }
  POST /memberships: { does: create membership }
  GET /memberships: { does: list membership }
  POST /sessions: { does: create session }
  GET /sessions/{id}: { does: read session }
  POST /sessions/{id}/announce: { does: announce session }
  POST /bookings: { does: create booking }
  GET /bookings/{id}: { does: read booking }
  PATCH /bookings/{id}: { does: update booking }
  POST /bookings/{id}/pay: { does: pay booking }
  POST /skates: { does: create skate }
  GET /skates: { does: list skate }
  POST /skates/{number}/lend: { does: lend skate }
  POST /skates/{number}/return: { does: return skate }
  POST /lockers: { does: create locker, idempotency: { header: Idempotency-Key, keep: 24h } }
  GET /lockers/{id}: { does: read locker }
  DELETE /lockers/{id}: { does: delete locker }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [all club, all membership, list skate, all skate, create session, announce session], to: steward }
    - { allow: [read session], to: anyone }
    - { allow: [create session], to: skater, if: "has(next.club) && has(find(membership, { club: next.club, person: caller.id })) && find(membership, { club: next.club, person: caller.id }).role == 'captain'" }
    - { allow: [create booking], to: skater }
    - { allow: [read booking, update booking, pay booking], to: skater, if: resource.skater == caller.id }
    - { allow: [read booking, update booking], to: steward }
    - { allow: [list club], to: skater }
    - { allow: [list skate], to: skater, fields: [number, size, status] }
    - { allow: [list skate, return skate], to: skater, if: "has(resource.borrower) && resource.borrower == caller.id" }
    - { allow: [lend skate], to: skater }
    - { allow: [create locker], to: skater }
    - { allow: [read locker, delete locker], to: skater, if: resource.holder == caller.id }
events: none
errors:
  payload: problem
  codes:
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    taken: { status: 409, when: resource.exists }
    key_reused: { status: 422, when: idempotency.reused }
    not_now: { status: 409, when: transition.illegal }
    full: { status: 409, message: Too few places are left. }
    blunt: { status: 409, message: These have to be ground first. }
    not_on: { status: 409, on: create booking, if: "next.session.phase != 'up'", message: This session takes no bookings. }
limits: { rate: none, pagination: { style: page, page: page, size: take, default: 20, max: 50, items: rows } }
versioning: none
`;

/** Skaters by their identifiers, as whoever looks them up among the members of a club names them. */
async function skaters(service: Service) {
  const all = ['anna', 'ben'].map(async (id) => {
    const { secret } = (await service.administer('keys add', { user: 'skater', id })) as { secret: string };
    return { user: 'skater', id, scheme: 'key', credential: secret };
  });
  return Promise.all(all);
}

async function told(only: readonly string[], options: StandOptions = {}) {
  const stand = await openStand(rink, { besides: skaters, ...options });
  try {
    const callers = stand.callers.filter(({ user, id = '' }) => user === 'steward' || ['anna', 'ben'].includes(id));
    const { breaches, facts } = await stand.verify({ callers, only });
    const looks = facts.flatMap(({ kind, subject, evidence }) =>
      (evidence?.looks ?? []).map(({ name, isMet }) => `${kind}, ${subject}: ${name}${isMet ? '' : ', not met'}`),
    );
    return { broken: [...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))].sort(), looks };
  } finally {
    await stand.close();
  }
}

const changed = (from: string, to: string): StandOptions => ({ served: rink.replace(from, to) });

test('who may make a row once a row looked up says so names that row, and is let in', async () => {
  const { broken, looks } = await told(['authentication/stored', 'authentication/users']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('permission rules, create session: a skater, let in'), looks.join('\n'));
});

test('what is left is reckoned: an act that asks for room is blocked where there is none, and carried out where there is just enough', async () => {
  const { broken, looks } = await told(['states/conditions', 'states/edges']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('conditions, full: a refusal with the code'), looks.join('\n'));
  const wide = await told(['states/edges'], changed('<= resource.session.places', '<= resource.session.places + 1'));
  assert.ok(wide.broken.includes('transitions, booking'), wide.broken.join('\n'));
});

test('an act is carried out again and again until what it counts blocks it', async () => {
  const { broken, looks } = await told(['states/conditions']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('conditions, blunt: a refusal with the code'), looks.join('\n'));
  const { broken: found } = await told(['states/conditions'], changed('resource.outings < 3', 'resource.outings < 5'));
  assert.ok(found.includes('transitions, skate'), found.join('\n'));
});

test('what only some may write is written by them: wrong values are refused, and what others change leaves it', async () => {
  const { broken, looks } = await told(['endpoints/bodies', 'resources/changed']);
  assert.deepEqual(broken, []);
  for (const look of [
    'types, booking.note: a wrong value, refused',
    'allowed values, booking.note: kept by PATCH /bookings/{id}',
  ])
    assert.ok(looks.includes(look), looks.filter((one) => one.includes('booking.note')).join('\n'));
  const loose = await told(['endpoints/bodies'], changed('note: { type: string, maxLength: 60,', 'note: { maxLength: 60,'));
  assert.ok(loose.broken.includes('types, booking.note'), loose.broken.join('\n'));
});

test('a list leaves out what no rule shows of a row, whoever has seen more of it before', async () => {
  const { broken, looks } = await told(['resources/shown to']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('permission rules, list skate: fields that rules leave out'), looks.join('\n'));
  const { broken: found } = await told(
    ['resources/shown to'],
    changed('fields: [number, size, status]', 'fields: [number, size, status, outings]'),
  );
  assert.ok(found.includes('permission rules, list skate'), found.join('\n'));
});

test('rows come in the order of their names beside names of which nobody says how they are ordered', async () => {
  const odd = 'Ä b';
  const { broken, looks } = await told(['endpoints/lists'], {
    besides: async (service) => {
      const callers = await skaters(service);
      return callers;
    },
    spoil: ({ target, text }) => {
      if (!target.startsWith('/clubs')) return {};
      const body = JSON.parse(text) as { rows?: { name: string }[] };
      return body.rows
        ? { text: JSON.stringify({ ...body, rows: body.rows.map((row, at) => (at === 0 ? { ...row, name: odd } : row)) }) }
        : {};
    },
  });
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('response payload shapes, GET /clubs: order'), looks.join('\n'));
});

test('a key that comes again with another body is refused, which shows something where there may be one of each too', async () => {
  const { broken, looks } = await told(['endpoints/idempotency']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('parameters, POST /lockers: key reused'), looks.filter((one) => one.includes('lockers')).join('\n'));
});
