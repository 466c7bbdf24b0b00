import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Bids that are taken of lots on show alone, and lots that may be hidden later; flights that are launched no earlier than soon before their time; rooms that are shut while nobody is in them. */
const doors = `
title: Doors
resources:
  lot:
    identifier: { field: id, generate: uuid }
    fields: { id: string, state: { type: string, readOnly: true } }
    required: [id, state]
  bid:
    identifier: { field: id, generate: uuid }
    fields: { id: string, lot: { ref: lot, immutable: true }, state: { type: string, readOnly: true } }
    required: [id, lot, state]
  flight:
    identifier: { field: id, generate: uuid }
    fields: { id: string, from: { type: string, format: date-time }, state: { type: string, readOnly: true } }
    required: [id, from, state]
  room:
    identifier: { field: id, generate: uuid }
    fields: { id: string, guests: { type: integer, derive: "count(guest.room)" }, state: { type: string, readOnly: true } }
    required: [id, guests, state]
  guest:
    identifier: { field: id, generate: uuid }
    fields: { id: string, room: { ref: room, immutable: true } }
    required: [id, room]
states:
  lot: { field: state, initial: shown, states: [shown, hidden], transitions: { hide: shown -> hidden } }
  bid:
    field: state
    initial: made
    states: [made, won]
    transitions: { win: { from: made, to: won, if: { if: "resource.lot.state == 'shown'", else: not_shown } } }
  flight:
    field: state
    initial: planned
    states: [planned, airborne]
    transitions: { launch: { from: planned, to: airborne, if: { if: "now >= next.from - duration('30m')", else: too_early } } }
  room:
    field: state
    initial: open
    states: [open, closed]
    transitions: { close: { from: open, to: closed, if: { if: "resource.guests == 0", else: in_use } } }
endpoints:
  POST /lots: { does: create lot }
  GET /lots/{id}: { does: read lot }
  POST /lots/{id}/hide: { does: hide lot }
  POST /bids: { does: create bid }
  GET /bids/{id}: { does: read bid }
  POST /bids/{id}/win: { does: win bid }
  POST /flights: { does: create flight }
  GET /flights/{id}: { does: read flight }
  POST /flights/{id}/launch: { does: launch flight }
  POST /rooms: { does: create room }
  GET /rooms/{id}: { does: read room }
  POST /rooms/{id}/close: { does: close room }
  POST /guests: { does: create guest }
  GET /guests/{id}: { does: read guest }
authentication: none
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    gone: { status: 422, when: reference.missing }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    closed: { status: 409, when: transition.illegal }
    hidden: { status: 409, on: [create bid], if: "next.lot.state == 'hidden'", message: It is hidden. }
    not_shown: { status: 409, message: It is not on show. }
    too_early: { status: 425, message: It is too early. }
    in_use: { status: 409, message: Somebody is in it. }
limits: { rate: none, pagination: none }
versioning: none
`;

const codes = ['not_shown', 'too_early', 'in_use'];

test('what a condition reads beside a row is brought to where it fails, so that the code of it is seen', async () => {
  const stand = await openStand(doors);
  try {
    const { facts, breaches, unsteady } = await stand.verify({ seed: 1 });
    assert.deepEqual([...breaches, ...unsteady], []);
    const verdicts = codes.map((code) => facts.find((one) => one.kind === 'conditions' && one.subject === code)?.verdict);
    assert.deepEqual(verdicts, ['held', 'held', 'held']);
  } finally {
    await stand.close();
  }
});

test('a transition that is carried out although its condition fails is told', async () => {
  const served = doors
    .replace(
      `if: { if: "resource.lot.state == 'shown'", else: not_shown }`,
      `if: { if: "resource.lot.state != 'nowhere'", else: not_shown }`,
    )
    .replace(`if: { if: "resource.guests == 0", else: in_use }`, `if: { if: "resource.guests < 99", else: in_use }`);
  const stand = await openStand(doors, { served });
  try {
    const { breaches } = await stand.verify({ seed: 1, only: ['states/conditions'] });
    const told = [...new Set(breaches.map(({ kind, subject }) => `${kind}:${subject}`))].sort();
    assert.deepEqual(told, ['transitions:bid', 'transitions:room']);
  } finally {
    await stand.close();
  }
});
