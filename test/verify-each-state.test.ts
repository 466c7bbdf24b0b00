import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Trips that are over by themselves at their start, unless that is put off, and whose seats are given back when they are called off, paid or not; bikes that are handed out where there are enough. */
const trips = `title: Trips
purpose: { purpose: Sells seats., users: { clerk: Sells them. } }
resources:
  trip:
    identifier: { field: id, generate: "trip_{ulid}" }
    fields:
      id: string
      starts: { type: string, format: date-time }
      ends: { type: string, format: date-time }
      status: { type: string, readOnly: true }
    required: [id, starts, ends, status]
    rules:
      ends_later: { if: "next.ends <= next.starts", field: ends, message: a time after it starts }
  seat:
    identifier: { field: id, generate: "seat_{ulid}" }
    fields:
      id: string
      trip: { ref: trip, immutable: true, onDelete: cascade }
      name: { type: string, minLength: 2, maxLength: 30 }
      status: { type: string, readOnly: true }
    required: [id, trip, name, status]
  bike:
    identifier: { field: id, generate: "bike_{ulid}" }
    fields: { id: string, on_hand: { type: integer, minimum: 0, maximum: 90, default: 0 } }
    required: [id, on_hand]
  hire:
    identifier: { field: id, generate: "hire_{ulid}" }
    fields:
      id: string
      bike: { ref: bike, immutable: true, onDelete: restrict }
      pieces: { type: integer, minimum: 2, maximum: 40 }
      status: { type: string, readOnly: true }
    required: [id, bike, pieces, status]
states:
  trip:
    field: status
    initial: planned
    states: [planned, off, gone]
    transitions:
      call_off: { from: planned, to: off, then: { do: refund seat, each: seat.trip, if: "item.status in ['held', 'paid']" } }
      leave: { from: planned, to: gone, at: resource.starts }
  seat:
    field: status
    initial: held
    states: [held, paid, refunded]
    transitions:
      pay: held -> paid
      refund: { from: [held, paid], to: refunded }
  bike: none
  hire:
    field: status
    initial: asked
    states: [asked, out]
    transitions:
      hand_out:
        from: asked
        to: out
        if: { if: "resource.bike.on_hand >= resource.pieces", else: too_few }
        then: { update: bike, to: next.bike, set: { on_hand: "next.bike.on_hand - next.pieces" } }
endpoints:
  POST /bikes: { does: create bike }
  GET /bikes/{id}: { does: read bike }
  POST /hires: { does: create hire }
  GET /hires/{id}: { does: read hire }
  POST /hires/{id}/hand-out: { does: hand_out hire }
  POST /trips: { does: create trip }
  GET /trips/{id}: { does: read trip }
  PATCH /trips/{id}: { does: update trip, in: [planned] }
  POST /trips/{id}/call-off: { does: call_off trip }
  POST /seats: { does: create seat }
  GET /seats: { does: list seat, parameters: { trip: { in: query } } }
  GET /seats/{id}: { does: read seat }
  POST /seats/{id}/pay: { does: pay seat }
  POST /seats/{id}/refund: { does: refund seat }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all trip, all seat, all bike, all hire], to: clerk }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    barred: { status: 403, when: caller.forbidden }
    unknown: { status: 401, when: caller.unknown }
    not_now: { status: 409, when: transition.illegal }
    too_few: { status: 409 }
limits: { rate: none, pagination: { style: none, items: items } }
versioning: { versions: none }
`;

test('a time that is put off takes those along that a rule holds after it', async () => {
  const stand = await openStand(trips, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const looks = facts.find(({ kind, subject }) => kind === 'transitions' && subject === 'trip')?.evidence?.looks ?? [];
    const putOff = looks.find(({ name }) => name === 'leave, put off by PATCH /trips/{id}');
    assert.equal(putOff?.isMet, true, JSON.stringify(looks));
  } finally {
    await stand.close();
  }
});

test('what is done to each row that refers to a row is looked at in each state in which it may be done', async () => {
  const served = trips.replace("item.status in ['held', 'paid']", "item.status == 'held'");
  const stand = await openStand(trips, { inPairs: true, served });
  try {
    const { breaches } = await stand.verify({ only: ['states/following'] });
    assert.deepEqual(
      breaches.map(({ kind, subject, reason }) => `${kind} ${subject}: ${reason}`),
      ['transitions trip: refund seat follows call_off trip'],
    );
  } finally {
    await stand.close();
  }
});

test('what a row refers to has enough for its transitions, and what these set of it is reckoned by what it had', async () => {
  const served = trips.replace('next.bike.on_hand - next.pieces', 'next.bike.on_hand - 1');
  for (const [document, found] of [
    [trips, []],
    [served, ['transitions hire: update bike follows hand_out hire']],
  ] as const) {
    const stand = await openStand(trips, { inPairs: true, served: document });
    try {
      const { breaches, facts } = await stand.verify({ only: ['states/following'] });
      assert.deepEqual(
        breaches.map(({ kind, subject, reason }) => `${kind} ${subject}: ${reason}`),
        found,
      );
      const fact = facts.find(({ kind, subject }) => kind === 'transitions' && subject === 'hire');
      const look = fact?.evidence?.looks?.find(({ name }) => name === 'update bike follows hand_out hire');
      assert.equal(look?.isMet, found.length === 0, JSON.stringify(fact));
    } finally {
      await stand.close();
    }
  }
});
