import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** A loaf of two machines, whose transitions ask for a state of the other one, and for two things at once. */
const document = `title: Bakery
purpose: { purpose: Bakes loaves., base_url: "https://bakery.example", users: { baker: Bakes. } }
resources:
  loaf:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      grams: { type: integer, minimum: 100, maximum: 2000 }
      salted: boolean
      stage: { type: string, readOnly: true }
      purse: { type: string, readOnly: true }
    required: [id, grams, salted, stage, purse]
states:
  loaf.stage:
    initial: raw
    states: [raw, baked, sold]
    transitions:
      bake: { from: raw, to: baked, if: "resource.grams >= 500 && resource.salted" }
      sell: { from: baked, to: sold, if: "resource.purse == 'settled'" }
  loaf.purse:
    initial: empty
    states: [empty, part, settled, void]
    transitions:
      deposit: empty -> part
      settle: part -> settled
      lapse: { from: part, to: void, after: 3d }
endpoints:
  POST /loaves: { does: create loaf }
  GET /loaves/{id}: { does: read loaf }
  PATCH /loaves/{id}: { does: update loaf }
  POST /loaves/{id}/bake: { does: bake loaf }
  POST /loaves/{id}/sell: { does: sell loaf }
  POST /loaves/{id}/deposit: { does: deposit loaf }
  POST /loaves/{id}/settle: { does: settle loaf }
authentication:
  schemes: { mark: { type: api_key, header: Authorization, prefix: Mark, generate: "mark_{random:24}" } }
  permissions: [{ allow: [all loaf], to: baker }]
events: none
errors:
  order: [caller, user, accept, parameters, body, row, precondition, request, state]
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    broken: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
    wrong_state: { status: 409, when: transition.illegal }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

const told = async (only: string, served = document) => {
  const stand = await openStand(document, { served });
  try {
    const { breaches, facts } = await stand.verify({ only: [only] });
    const fact = facts.find(({ kind, subject }) => kind === 'transitions' && subject === 'loaf.stage');
    const looks = (fact?.evidence?.looks ?? []).filter(({ name, isMet }) => isMet && name.includes(' blocked '));
    return { broken: breaches.map(({ subject, reason }) => `${subject}, ${reason}`), looks: looks.map(({ name }) => name) };
  } finally {
    await stand.close();
  }
};

test('every state of another machine that a condition excludes is looked at, and every part of one alone', async () => {
  assert.deepEqual(await told('states/guards'), {
    broken: [],
    looks: [
      'bake blocked by resource.grams >= 500 alone',
      'bake blocked by resource.salted alone',
      'sell blocked where purse is empty',
      'sell blocked where purse is part',
    ],
  });
  assert.deepEqual(await told('states/timed guards'), { broken: [], looks: ['sell blocked where purse is void'] });
});

test('a condition of which a part is enough is found', async () => {
  const { broken: onPart } = await told('states/guards', document.replace("purse == 'settled'", "purse != 'empty'"));
  assert.deepEqual(onPart, ['loaf.stage, sell blocked where purse is part']);
  const { broken: onVoid } = await told(
    'states/timed guards',
    document.replace("purse == 'settled'", "purse in ['settled', 'void']"),
  );
  assert.deepEqual(onVoid, ['loaf.stage, sell blocked where purse is void']);
  const { broken: onWeight } = await told('states/guards', document.replace(' && resource.salted', ''));
  assert.deepEqual(onWeight, ['loaf.stage, bake blocked by resource.salted alone']);
});

test('what an update that sends a state asks of another machine is looked at too', async () => {
  const shelved = document
    .replace('stage: { type: string, readOnly: true }', 'stage: string')
    .replace('states: [raw, baked, sold]', 'states: [raw, baked, sold, shelved]')
    .replace(
      '      sell: {',
      `      shelve: { from: baked, to: shelved, on: update loaf, if: "resource.purse == 'empty'" }\n      sell: {`,
    );
  const ask = async (served: string) => {
    const stand = await openStand(shelved, { served });
    try {
      const { breaches, facts } = await stand.verify({ only: ['states/guards'] });
      const fact = facts.find(({ kind, subject }) => kind === 'transitions' && subject === 'loaf.stage');
      const looks = (fact?.evidence?.looks ?? []).filter(({ name, isMet }) => isMet && name.startsWith('shelve blocked'));
      return { broken: breaches.map(({ reason }) => reason), looks: looks.map(({ name }) => name) };
    } finally {
      await stand.close();
    }
  };
  assert.deepEqual(await ask(shelved), {
    broken: [],
    looks: ['shelve blocked where purse is part', 'shelve blocked where purse is settled'],
  });
  const lax = shelved.replace(
    'on: update loaf, if: "resource.purse == \'empty\'"',
    'on: update loaf, if: "resource.purse != \'part\'"',
  );
  assert.deepEqual((await ask(lax)).broken, ['shelve blocked where purse is settled']);
});
