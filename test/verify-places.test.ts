import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { callersOf } from '../src/verify/exchange/callers.ts';
import { Made } from '../src/verify/make/made.ts';
import { newcomersFor } from '../src/verify/make/newcomers.ts';
import { HeldPlaces, rowBounds } from '../src/verify/make/places.ts';
import { Model } from '../src/verify/model/model.ts';
import { answered } from './verify/recorded.ts';
import { openStand } from './verify/stand.ts';

/** Each diver may plan three dives, and be under water in one of them. */
const dives = `title: Dives
purpose: { purpose: Plans dives., users: { diver: Dives. } }
resources:
  dive:
    identifier: { field: id, generate: "dive_{ulid}" }
    fields:
      id: string
      diver: { type: string, readOnly: true, set: { create: caller.id } }
      depth: { type: integer, minimum: 1, maximum: 60 }
      state: { type: string, readOnly: true }
    required: [id, diver, depth, state]
    unique:
      - { fields: [diver], while: "next.state == 'under'" }
states:
  dive:
    field: state
    initial: planned
    states: [planned, under, over]
    transitions: { descend: planned -> under, ascend: under -> over, drop: planned -> over }
endpoints:
  POST /dives: { does: create dive }
  GET /dives: { does: list dive }
  GET /dives/{id}: { does: read dive }
  PATCH /dives/{id}: { does: update dive }
  POST /dives/{id}/descend: { does: descend dive }
  POST /dives/{id}/ascend: { does: ascend dive }
  POST /dives/{id}/drop: { does: drop dive }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create dive, list dive, read dive], to: diver }
    - { allow: [update dive, descend dive, ascend dive, drop dive], to: diver, if: "resource.diver == caller.id" }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    not_yours: { status: 403, when: caller.forbidden }
    unknown: { status: 401, when: caller.unknown }
    under_already: { status: 409, when: resource.exists }
    enough: { status: 403, when: limit.quota }
    not_now: { status: 409, when: transition.illegal }
limits:
  rows: [{ of: dive, per: caller.id, limit: 3, while: "next.state != 'over'" }]
  rate: none
versioning: { versions: none }
`;

function opened(elsewhere?: () => number) {
  const { spec } = check(parseDocument(dives, 'dives.yaml'));
  const callers = callersOf(
    spec,
    ['ada', 'bo'].map((id) => ({ user: 'diver', id, credential: id })),
  );
  const model = new Model(spec, callers, '');
  const made = new Made();
  const places = new HeldPlaces(model, made, rowBounds(model), elsewhere);
  const wanted = (who: 0 | 1, state?: string) =>
    places.countedIn(newcomersFor(model, 'dive', callers[who], state ? { state } : {}));
  const make = (id: string, diver: string, state: string) =>
    made.note(answered(model, 'POST /dives', { status: 201, body: { id, diver, state } }), model, {});
  return { model, made, places, wanted, make };
}

test('a row is counted in what it is to be, and not in what others of its maker are', () => {
  const { places, wanted, make } = opened();
  make('dive_1', 'ada', 'under');
  assert.equal(places.hold(wanted(0, 'under')), undefined);
  assert.ok(places.hold(wanted(1, 'under')));
  const planned = places.hold(wanted(0));
  assert.ok(planned, 'one that is only planned has room beside one that is under water');
  assert.ok(places.hold(wanted(0)));
  assert.equal(places.hold(wanted(0)), undefined, 'one is there, and two are asked for');
  planned();
  planned();
  assert.ok(places.hold(wanted(0)));
  assert.equal(places.hold(wanted(0)), undefined, 'what is given back twice was held once');
});

test('who waits for a place goes on when a row leaves what it counts in', async () => {
  const { model, made, places, wanted, make } = opened();
  make('dive_1', 'ada', 'under');
  places.begin();
  places.begin();
  const waiting = places.more([wanted(0, 'under')]);
  // Of another diver nothing is waited for.
  make('dive_2', 'bo', 'under');
  made.note(
    answered(model, 'POST /dives/{id}/ascend', {
      status: 200,
      path: { id: 'dive_2' },
      body: { id: 'dive_2', diver: 'bo', state: 'over' },
    }),
    model,
    {},
  );
  assert.equal(await Promise.race([waiting, Promise.resolve('waits')]), 'waits');
  made.note(
    answered(model, 'POST /dives/{id}/ascend', {
      status: 200,
      path: { id: 'dive_1' },
      body: { id: 'dive_1', diver: 'ada', state: 'over' },
    }),
    model,
    {},
  );
  assert.equal(await waiting, true);
  assert.ok(places.hold(wanted(0, 'under')));
});

test('nobody waits for those who wait as well, here or for the time to go by', async () => {
  let elsewhere = 0;
  const { places, wanted, make } = opened(() => elsewhere);
  make('dive_1', 'ada', 'under');
  for (const _ of [1, 2, 3]) places.begin();
  const [first, second] = [places.more([wanted(0, 'under')]), places.more([wanted(0, 'under')])];
  assert.equal(await Promise.race([first, second, Promise.resolve('wait')]), 'wait');
  elsewhere = 1;
  places.look();
  assert.equal(await second, false, 'who came last goes without');
  places.end();
  assert.equal(await first, false, 'and then whoever is left');
});

test('where one row alone may be in a state, cases take turns and hardly anything is asked for in vain', async () => {
  let [asked, vain] = [0, 0];
  const stand = await openStand(dives, {
    inPairs: true,
    spoil({ method, status, text }) {
      if (method === 'POST') asked += 1;
      if (status >= 400 && /enough|under_already/.test(text)) vain += 1;
      return {};
    },
  });
  try {
    const { breaches, facts, stopped } = await stand.verify({ only: ['states', 'endpoints', 'authentication'] });
    assert.equal(stopped, undefined);
    assert.deepEqual(breaches, []);
    const unmade = facts.filter(({ why }) => /no dive could be made|as many such rows/.test(why ?? ''));
    assert.deepEqual(unmade, []);
    assert.ok(asked > 200, `${asked}`);
    assert.ok(vain * 5 < asked, `${vain} of ${asked} found no place`);
  } finally {
    await stand.close();
  }
});
