import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../src/index.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

/** A fencing hall: duels with others, blades that are mended and fetched with a number told once, halls of districts with their strips, seats. */
const hall = `title: Hall
purpose: { purpose: Lets fencers meet., users: { fencer: Fences., keeper: Keeps a hall. } }
resources:
  duel:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      challenger: { type: string, readOnly: true, set: { create: caller.id } }
      opponent: { type: string, minLength: 1, maxLength: 60, immutable: true }
      state: { type: string, readOnly: true }
    required: [id, challenger, opponent, state]
  blade:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      number: { type: string, readOnly: true, generate: "{random:8:0-9}", reveal: once }
      state: { type: string, readOnly: true }
    required: [id, owner, number, state]
  house:
    identifier: { field: code, generate: client }
    fields:
      code: { type: string, pattern: "^[a-z]{6,12}$" }
      name: { type: string, minLength: 4, maxLength: 40 }
      district: { type: string, minLength: 2, maxLength: 20, immutable: true }
    required: [code, name, district]
    unique: [[name]]
  strip:
    identifier: { field: id, generate: uuid }
    fields: { id: string, house: { ref: house, immutable: true }, length: { type: integer, minimum: 10, maximum: 20 } }
    required: [id, house, length]
  seat:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      holder: { type: string, readOnly: true, set: { create: caller.id } }
      fee: { type: integer, readOnly: true, set: { create: "next.rows * 10" } }
      rows: { type: integer, minimum: 1, maximum: 9 }
      note: { type: string, maxLength: 40 }
    required: [id, holder, fee, rows]
states:
  duel: { field: state, initial: asked, states: [asked, taken], transitions: { accept: { from: asked, to: taken } } }
  blade:
    field: state
    initial: brought
    states: [brought, fetched]
    transitions: { fetch: { from: brought, to: fetched, if: { if: request.number == resource.number, else: wrong_number } } }
endpoints:
  POST /duels: { does: create duel }
  GET /duels/{id}: { does: read duel }
  POST /duels/{id}/accept: { does: accept duel }
  POST /blades: { does: create blade }
  GET /blades/{id}: { does: read blade }
  POST /blades/{id}/fetch:
    does: fetch blade
    request: { type: object, properties: { number: { type: string, minLength: 1, maxLength: 20 } }, required: [number] }
  POST /houses: { does: create house }
  GET /houses/{code}: { does: read house }
  PATCH /houses/{code}: { does: update house }
  POST /houses/{house}/strips: { does: create strip }
  GET /strips/{id}: { does: read strip }
  POST /seats: { does: create seat }
  GET /seats/{id}: { does: read seat }
  PATCH /seats/{id}: { does: update seat }
authentication:
  attributes: { district: Where it keeps a hall. }
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: create duel, to: fencer }
    - { allow: read duel, to: fencer, if: resource.challenger == caller.id || resource.opponent == caller.id }
    - { allow: accept duel, to: fencer, if: resource.opponent == caller.id }
    - { allow: create blade, to: fencer }
    - { allow: [read blade, fetch blade], to: fencer, if: resource.owner == caller.id }
    - { allow: [create house, update house], to: fencer }
    - { allow: [read house, read strip], to: anyone }
    - { allow: create strip, to: keeper, if: next.house.district == caller.district }
    - { allow: create strip, to: fencer }
    - { allow: create seat, to: fencer }
    - { allow: [read seat, update seat], to: fencer, if: resource.holder == caller.id }
    - { allow: read seat, to: fencer, if: "resource.rows > 4", fields: [id, rows] }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    taken: { status: 409, when: resource.exists }
    forbidden: { status: 403, when: caller.forbidden }
    unknown: { status: 401, when: caller.unknown }
    not_now: { status: 409, when: transition.illegal }
    wrong_number: { status: 403, message: The number is another. }
    own_opponent: { status: 422, on: create duel, if: next.opponent == caller.id, message: Nobody meets themself. }
limits: { rate: none }
versioning: none
`;

/** Two of each user, keepers of two districts. */
async function atHome(service: Service) {
  const all = ['fencer', 'keeper'].flatMap((user) => ['north', 'south'].map((district) => ({ user, attributes: { district } })));
  return Promise.all(
    all.map(async ({ user, attributes }) => {
      const id = `${user}-of-${attributes.district}`;
      const { secret } = (await service.administer('keys add', { user, id, attributes })) as { secret: string };
      return { user, id, scheme: 'key', credential: secret, attributes };
    }),
  );
}

async function told(only: readonly string[], options: StandOptions = {}) {
  const stand = await openStand(hall, { besides: atHome, ...options });
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
  assert.ok(hall.includes(from), from);
  return { served: hall.replace(from, to) };
};

test('who has to be somebody else than the maker is named as somebody else, and does what is theirs to do', async () => {
  const { broken, looks } = await told(['transitions:duel', 'permission rules:accept duel']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('transitions, duel: accept from asked'), looks.join('\n'));
  assert.ok(looks.includes('permission rules, accept duel: a fencer, let in'));
});

test('what the making of a row alone reveals is sent where a condition asks for it', async () => {
  const { broken, looks } = await told(['states/transitions', 'states/conditions']);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('transitions, blade: fetch from brought'), looks.join('\n'));
  const careless = served('if: { if: request.number == resource.number, else: wrong_number }', "if: request.number != ''");
  assert.ok((await told(['states/conditions'], careless)).broken.length > 0);
});

test('what rules say of a row that is still to be is asked of it, on both sides', async () => {
  const only = ['authentication/stored'];
  const { broken, looks } = await told(only);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('permission rules, create strip: a keeper, let in'));
  assert.ok(looks.includes('permission rules, create strip: what no rule allows to make, refused'));
  const rule = 'to: keeper, if: next.house.district == caller.district';
  assert.deepEqual((await told(only, served(rule, 'to: keeper'))).broken, ['permission rules, create strip']);
  assert.deepEqual((await told(only, served(rule, "to: keeper, if: next.house.district == 'nowhere'"))).broken, [
    'permission rules, create strip',
  ]);
});

test('what a rule leaves out for others is held to its value where it is shown', async () => {
  const only = ['resources/changed'];
  const { broken, looks } = await told(only);
  assert.deepEqual(broken, []);
  assert.ok(looks.includes('allowed values, seat.fee: kept by PATCH /seats/{id}'), looks.join('\n'));
  const again = served('set: { create: "next.rows * 10" }', 'set: { create: "next.rows * 10", update: "next.rows * 20" }');
  assert.ok((await told(only, again)).broken.includes('allowed values, seat.fee'));
});

test('texts at their edges are sent as unlike ones where no two rows may have the same', async () => {
  const { broken, looks } = await told(['endpoints/bodies']);
  assert.deepEqual(broken, []);
  for (const key of ['POST /houses', 'PATCH /houses/{code}'])
    assert.ok(looks.includes(`allowed values, house.name: of 4 characters, taken at ${key}`), looks.join('\n'));
});
