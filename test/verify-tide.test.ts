import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceClock } from '../src/verify/exchange/clock.ts';
import { Untestable } from '../src/verify/exchange/untestable.ts';
import { Tide } from '../src/verify/tide.ts';
import { openStand } from './verify/stand.ts';

const day = 86_400_000;

/** A clock that says how often it was moved, and by how much, in all that is under way. */
function moving(underWay: { cases: number }) {
  let nowMs = 0;
  const moved: number[] = [];
  const wait = async (ms: number) => {
    moved.push(ms);
    nowMs += ms;
  };
  // The cast holds: nothing else of it is asked.
  const clock = { toService: () => nowMs, wait } as unknown as ServiceClock;
  return { tide: new Tide(clock, () => underWay.cases), moved };
}

test('all that wait for a long time wait for it together, and nobody is under way meanwhile who does not wait', async () => {
  const underWay = { cases: 4 };
  const { tide, moved } = moving(underWay);
  const gone: string[] = [];
  const waits = [
    tide.wait(30 * day, 60_000).then(() => gone.push('a month')),
    tide.wait(30 * day + 4_000, 60_000).then(() => gone.push('a month and a little')),
    tide.wait(60 * day, 60_000).then(() => {
      gone.push('two months');
      underWay.cases -= 1;
    }),
  ];
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.deepEqual([moved, gone], [[], []]);
  // Who did not wait is over; of the others those go on that the time is come to first.
  underWay.cases -= 1;
  tide.turn();
  await Promise.all(waits.slice(0, 2));
  assert.deepEqual([moved, gone], [[30 * day + 4_000], ['a month', 'a month and a little']]);
  underWay.cases -= 2;
  tide.turn();
  await Promise.all(waits);
  assert.deepEqual(moved, [30 * day + 4_000, 30 * day - 4_000]);
});

test('what is due sooner goes by while all others wait for longer, and no further than the first of them waits for', async () => {
  const underWay = { cases: 1 };
  let isHeld = true;
  let nowMs = 0;
  const moved: number[] = [];
  const clock = {
    toService: () => nowMs,
    wait: async (ms: number) => {
      moved.push(ms);
      nowMs += ms;
    },
  } as unknown as ServiceClock;
  const tide = new Tide(
    clock,
    () => underWay.cases,
    () => isHeld,
  );
  let isGone = false;
  const gone = tide.wait(60 * day, 60_000).then(() => (isGone = true));
  assert.ok(tide.isAll);
  assert.ok(await tide.pass(day));
  assert.ok(await tide.pass(30 * day));
  assert.deepEqual([moved, isGone], [[day, 30 * day], false]);
  assert.equal(await tide.pass(30 * day), false);
  await gone;
  assert.deepEqual(moved, [day, 30 * day, 29 * day]);
  const again = tide.wait(day, 60_000);
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.equal(moved.length, 3);
  isHeld = false;
  tide.turn();
  await again;
  assert.deepEqual(moved, [day, 30 * day, 29 * day, day]);
});

test('who has no time left to wait gives up, and keeps nobody', async () => {
  const underWay = { cases: 3 };
  const { tide, moved } = moving(underWay);
  await assert.rejects(tide.wait(day, 20), Untestable);
  underWay.cases = 1;
  await tide.wait(day, 60_000);
  assert.deepEqual(moved, [day]);
});

/** Cheeses that only the clock ripens, and claims to them, which are taken of ripe ones alone. */
const cheeses = `
title: Cheeses
resources:
  cheese:
    identifier: { field: id, generate: uuid }
    fields: { id: string, state: { type: string, readOnly: true } }
    required: [id, state]
  claim:
    identifier: { field: id, generate: uuid }
    fields: { id: string, cheese: { ref: cheese, immutable: true }, offer: { type: integer, minimum: 10, maximum: 500 }, state: { type: string, readOnly: true } }
    required: [id, cheese, offer, state]
states:
  cheese:
    field: state
    initial: green
    states: [green, ripe]
    transitions: { ripen: { from: green, to: ripe, after: 30d } }
  claim:
    field: state
    initial: offered
    states: [offered, accepted, withdrawn]
    transitions: { accept: offered -> accepted, withdraw: offered -> withdrawn }
endpoints:
  POST /cheeses: { does: create cheese }
  GET /cheeses/{id}: { does: read cheese }
  POST /claims: { does: create claim }
  GET /claims: { does: list claim, parameters: { state: { in: query } } }
  GET /claims/{id}: { does: read claim }
  PATCH /claims/{id}: { does: update claim, in: [offered] }
  POST /claims/{id}/accept: { does: accept claim }
  POST /claims/{id}/withdraw: { does: withdraw claim }
authentication: none
events: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    gone: { status: 422, when: reference.missing }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    closed: { status: 409, when: transition.illegal }
    unripe: { status: 409, on: [create claim], if: "next.cheese.state != 'ripe'", message: It is not ripe. }
limits: { rate: none, pagination: { style: offset, offset: skip, size: take, default: 20, max: 50, items: rows, has_more: more } }
versioning: none
`;

const facts = ['allowed values:claim.offer', 'transitions:claim', 'conditions:unripe', 'identifiers:claim'];

test('what needs a row that only the clock makes ready is looked at, and nothing is told of a service that is right', async () => {
  const stand = await openStand(cheeses);
  try {
    const { facts: told, breaches, unsteady } = await stand.verify({ clockUrl: stand.clockUrl, seed: 1 });
    assert.deepEqual([...breaches, ...unsteady], []);
    const verdicts = new Map(told.map(({ kind, subject, verdict }) => [`${kind}:${subject}`, verdict]));
    const missed = facts.filter((fact) => verdicts.get(fact) !== 'held' && verdicts.get(fact) !== 'partly');
    assert.deepEqual(missed, []);
  } finally {
    await stand.close();
  }
});

test('a breach is shown again where it takes a row that only the clock makes ready', async () => {
  const stand = await openStand(cheeses, { served: cheeses.replace('maximum: 500', 'maximum: 501') });
  try {
    const { breaches } = await stand.verify({ clockUrl: stand.clockUrl, seed: 1, only: ['allowed values:claim.offer'] });
    assert.deepEqual([...new Set(breaches.map(({ kind, subject }) => `${kind}:${subject}`))], ['allowed values:claim.offer']);
    assert.ok(breaches.every(({ reproduced }) => reproduced.shown === reproduced.runs));
  } finally {
    await stand.close();
  }
});
