import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { allMachines } from '../src/parts/states.ts';
import type { TrialExchange } from '../src/verify/exchange/exchange.ts';
import { ledByClock, movedByClock } from '../src/verify/model/clock-changes.ts';
import { Model } from '../src/verify/model/model.ts';
import { openStand } from './verify/stand.ts';

/** Outings of which the clock says that they are missed, at a time that whoever makes one says, which may be over; and birds of somebody's own. */
const outings = `
title: Outings
purpose: { users: { flier: Flies birds. } }
resources:
  bird:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
    required: [id, owner]
  outing:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      owner: { type: string, readOnly: true, set: { create: caller.id } }
      bird: { ref: bird }
      ground: { type: string, minLength: 3, maxLength: 20 }
      from: { type: string, format: date-time }
      until: { type: string, format: date-time }
      status: { type: string, readOnly: true }
      missed_at: { type: string, format: date-time, readOnly: true, set: { miss: now } }
    required: [id, owner, bird, ground, from, until, status]
    rules:
      ends_later: { if: "next.until <= next.from", field: until, message: a time after from }
states:
  outing:
    field: status
    initial: planned
    states: [planned, begun, missed]
    transitions:
      begin: planned -> begun
      miss: { from: planned, to: missed, at: resource.until }
endpoints:
  POST /birds: { does: create bird }
  GET /birds/{id}: { does: read bird }
  POST /outings: { does: create outing }
  GET /outings: { does: list outing, parameters: { status: { in: query } } }
  GET /outings/{id}: { does: read outing }
  POST /outings/{id}/begin: { does: begin outing }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:16}" } }
  permissions:
    - { allow: [create bird, create outing], to: flier }
    - { allow: [read bird], to: flier, if: "resource.owner == caller.id" }
    - { allow: [list outing, read outing, begin outing], to: flier, if: "resource.owner == caller.id" }
events: none
errors: { payload: problem, codes: { invalid: { status: 422, when: request.invalid }, gone: { status: 422, when: reference.missing }, missing: { status: 404, when: [resource.missing, route.unknown] }, who: { status: 401, when: caller.unknown }, denied: { status: 403, when: caller.forbidden }, closed: { status: 409, when: transition.illegal } } }
limits: { rate: none, pagination: { style: offset, offset: skip, size: take, default: 20, max: 50, items: rows, has_more: more } }
versioning: none
`;

/** The same, where nothing that is drawn keeps a rule. */
const unkept = outings.replace(
  '    rules:\n',
  '    rules:\n      odd: { if: "next.ground != \'nobody draws this\'", field: ground, message: one ground }\n',
);

for (const [only, text] of [
  ['states/initial', outings],
  ['authentication/lists', outings],
  ['resources/stored', outings],
  ['authentication/referring', unkept],
] as const)
  test(`what is over as soon as it is made, or out of order, is no breach of a service that is right: ${only}`, async () => {
    const stand = await openStand(text, { inPairs: true });
    try {
      for (const seed of [1, 2, 3]) {
        const { breaches, unsteady, requests } = await stand.verify({ only: [only], seed, requests: 1_500 });
        assert.deepEqual([...breaches, ...unsteady], []);
        assert.ok(requests > 0);
      }
    } finally {
      await stand.close();
    }
  });

test('a row that is made may be in the state that the clock takes it to at once, and is not while its time is still to come', () => {
  const { spec } = check(parseDocument(outings, 'stand.yaml'));
  const model = new Model(spec, [], '');
  const nowMs = Date.parse('2026-06-01T09:00:00Z');
  const moved = (until: string, status: string) => {
    const row = { id: 'o-1', status, until };
    const endpoint = model.endpoints.find(({ key }) => key === 'POST /outings');
    // The cast holds: this is all that is read of an exchange.
    const made = { endpoint, status: 201, body: row, sent: { path: {}, query: {}, json: {} }, fromMs: nowMs, toMs: nowMs };
    const [outing] = allMachines(spec.states);
    assert.ok(outing);
    return movedByClock(model, outing, made as unknown as TrialExchange);
  };
  assert.equal(moved('2026-06-01T08:00:00Z', 'missed'), true);
  assert.equal(moved('2026-06-01T10:00:00Z', 'missed'), false);
});

test('what the clock leads to after another is known, and is no breach of the first', () => {
  const closures = outings
    .replace('states: [planned, begun, missed]', 'states: [planned, begun, missed, over, filed]')
    .replace(
      '      miss: {',
      '      end: { from: begun, to: over, at: resource.until }\n      file: { from: over, to: filed, after: 1h }\n      miss: {',
    );
  const [machine] = allMachines(new Model(check(parseDocument(closures, 'closures.yaml')).spec, [], '').spec.states);
  assert.ok(machine);
  assert.deepEqual([...ledByClock(machine, ['begun'])], ['over', 'filed']);
  assert.deepEqual([...ledByClock(machine, ['planned'])], ['missed']);
  assert.deepEqual([...ledByClock(machine, ['filed'])], []);
});
