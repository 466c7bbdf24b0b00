import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** A mill: dues that are made with what is ground, stones that are lifted once they are worn, and no two events of one row that surely come one after the other. */
const mill = `title: Mill
purpose: { purpose: Grinds corn., base_url: "https://mill.example", users: { farmer: Brings corn., reeve: Waives dues. } }
resources:
  stone:
    identifier: { field: id, generate: uuid }
    fields: { id: string, face: { type: string, readOnly: true }, gear: { type: string, readOnly: true } }
    required: [id, face, gear]
  grist:
    identifier: { field: id, generate: uuid }
    fields: { id: string, farmer: { type: string, readOnly: true, set: { create: caller.id } }, stage: { type: string, readOnly: true } }
    required: [id, farmer, stage]
  due:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      grist: { ref: grist, readOnly: true, onDelete: restrict }
      payer: { type: string, readOnly: true }
      status: { type: string, readOnly: true }
      pay_by: { type: string, format: date-time, readOnly: true, set: { create: "now + duration('504h')" } }
    required: [id, grist, payer, status, pay_by]
  crier:
    identifier: { field: id, generate: uuid }
    fields: { id: string, url: { type: string, format: uri, maxLength: 300 } }
    required: [id, url]
states:
  stone.face:
    initial: sharp
    states: [sharp, worn]
    transitions: { wear: { from: sharp, to: worn, after: 60d, then: { do: lift stone, to: next.id, if: "next.gear == 'engaged'" } } }
  stone.gear:
    initial: lifted
    states: [lifted, engaged]
    transitions: { engage: lifted -> engaged, lift: engaged -> lifted }
  grist:
    field: stage
    initial: queued
    states: [queued, grinding, ground]
    transitions:
      start: queued -> grinding
      finish: { from: grinding, to: ground, then: { create: due, set: { grist: next.id, payer: next.farmer } } }
  due:
    field: status
    initial: owing
    states: [owing, overdue, paid]
    transitions: { pay: { from: [owing, overdue], to: paid }, lapse: { from: owing, to: overdue, at: resource.pay_by } }
  crier: none
endpoints:
  POST /stones: { does: create stone }
  GET /stones/{id}: { does: read stone }
  POST /stones/{id}/engage: { does: engage stone }
  POST /stones/{id}/lift: { does: lift stone }
  POST /grists: { does: create grist }
  GET /grists/{id}: { does: read grist }
  POST /grists/{id}/start: { does: start grist }
  POST /grists/{id}/finish: { does: finish grist }
  GET /dues: { does: list due, parameters: { grist: { in: query } } }
  GET /dues/{id}: { does: read due }
  POST /dues/{id}/pay: { does: pay due }
  POST /criers: { does: create crier }
  GET /criers/{id}: { does: read crier }
  DELETE /criers/{id}: { does: delete crier }
authentication:
  schemes: { mark: { type: api_key, header: Authorization, prefix: Mark, generate: "mark_{random:24}" } }
  permissions:
    - { allow: [all stone, all grist, all crier], to: farmer }
    - { allow: [list due, read due, pay due], to: farmer, if: "resource.payer == caller.id" }
    - { allow: [list due, read due], to: reeve, fields: [grist, status] }
events:
  delivery: { webhook: { signature: none, retry: [10s, 2m, 20m], timeout: 2s, subscribers: { resource: crier, url: url } } }
  kinds:
    grist.brought: { on: [create grist], payload: grist }
    due.settled: { on: [pay due], payload: due }
    due.nearing: { of: due, at: "resource.pay_by - duration('72h')", if: "resource.status == 'owing'", payload: due }
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

const reasonsOf = async (only: string, served = mill, options: StandOptions = {}): Promise<string[]> => {
  const stand = await openStand(mill, { inPairs: true, serve: { allowPrivateWebhooks: true }, ...options, served });
  try {
    const { breaches } = await stand.verify({ only: [only] });
    return [...new Set(breaches.map(({ kind, subject, reason }) => `${kind}: ${subject}, ${reason}`))];
  } finally {
    await stand.close();
  }
};

/** The right service is told of nothing, and another one of what it does otherwise. */
const isSeen = async (only: string, [what, instead]: readonly [string, string], told: readonly string[]): Promise<void> => {
  assert.ok(mill.includes(what));
  assert.deepEqual(await reasonsOf(only), []);
  assert.deepEqual(await reasonsOf(only, mill.replace(what, instead)), told);
};

test('what follows from a transition of the clock is looked at once that has come', async () => {
  const never = ["next.gear == 'engaged'", "next.gear == 'lifted'"] as const;
  await isSeen('states/followed in time', never, ['transitions: stone.face, lift stone follows wear, in time']);
});

test('a row that is made with another one is waited for, and moved on in the state that the clock brings it to', async () => {
  await isSeen('states/after time', ['from: [owing, overdue]', 'from: [owing]'], ['transitions: due, pay from overdue']);
});

test('a row that is made with another one is that of whoever made the other one', async () => {
  const everybody = [
    '{ allow: [list due, read due, pay due], to: farmer, if: "resource.payer == caller.id" }',
    '{ allow: [list due, read due, pay due], to: farmer }',
  ] as const;
  const told = await reasonsOf('authentication/rows', mill.replace(...everybody));
  assert.deepEqual(await reasonsOf('authentication/rows'), []);
  assert.ok(told.includes('permission rules: pay due, foreign'), told.join('; '));
});

test('a row that is found in a list is found again where others are there too', async () => {
  await isSeen(
    'events/emitted',
    ['on: [pay due], payload', 'on: [lapse due], payload'],
    ['emitting operations: due.settled, emitted'],
  );
});

test('what is told of two rows shows how often a delivery is tried', async () => {
  await isSeen(
    'events/tries',
    ['retry: [10s, 2m, 20m]', 'retry: [10s]'],
    ['delivery mechanism: service, tried as often as stated'],
  );
});

test('what the clock tells of rows of which a condition holds comes at its time', async () => {
  await isSeen('events/at a time', ["duration('72h')", "duration('90h')"], ['emitting operations: due.nearing, at its time']);
});
