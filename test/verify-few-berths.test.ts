import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { DrawnValues, resolve } from '../src/verify/exchange/symbol.ts';
import { Untestable } from '../src/verify/exchange/untestable.ts';
import { fewCombinations } from '../src/verify/make/few-combinations.ts';
import { SharedRows, sharedOr } from '../src/verify/make/lent-rows.ts';
import { Model } from '../src/verify/model/model.ts';
import type { Session } from '../src/verify/session/session.ts';
import { runDraw } from '../src/verify/values/fresh.ts';
import { answered } from './verify/recorded.ts';
import { openStand, type Stand } from './verify/stand.ts';

/** Berths there are thirty of and none goes once a stay refers to it, fees that are raised when a stay is over, and boats that guests are told little of. */
const berths = 30;
const harbour = `title: Harbour
purpose: { purpose: Lets berths., users: { master: Lets them., guest: Looks at boats. } }
resources:
  berth:
    identifier: { field: id, generate: "berth_{ulid}" }
    fields:
      id: string
      pier: { enum: [north, south, west], immutable: true }
      place: { type: integer, minimum: 1, maximum: 10 }
      note: { type: string, maxLength: 30 }
    required: [id, pier, place]
    unique: [[pier, place]]
  stay:
    identifier: { field: id, generate: "stay_{ulid}" }
    fields:
      id: string
      berth: { ref: berth, immutable: true, onDelete: restrict }
      number: { type: integer, readOnly: true, generate: integer, within: berth }
      name: { type: string, minLength: 2, maxLength: 30 }
      nights: { type: integer, minimum: 1, maximum: 90, default: 1 }
      status: { type: string, readOnly: true }
    required: [id, berth, number, name, nights, status]
  fee:
    identifier: { field: id, generate: "fee_{ulid}" }
    fields:
      id: string
      stay: { ref: stay, onDelete: restrict }
      amount: { type: integer }
      status: { type: string, readOnly: true }
    required: [id, stay, amount, status]
  boat:
    identifier: { field: id, generate: "boat_{ulid}" }
    fields:
      id: string
      name: { type: string, minLength: 2, maxLength: 30 }
      value: { type: integer, minimum: 1, maximum: 900000 }
      shown: { type: boolean, default: true }
    required: [id, name, value, shown]
  hook: { identifier: { field: id, generate: "hook_{ulid}" }, fields: { id: string, url: { type: string, format: uri } }, required: [id, url] }
states:
  berth: none
  stay:
    field: status
    initial: booked
    states: [booked, there, over]
    transitions:
      arrive: booked -> there
      leave: { from: there, to: over, then: { create: fee, set: { stay: next.id, amount: "next.nights * 12" } } }
  fee: { field: status, initial: due, states: [due, paid], transitions: { pay: due -> paid } }
  boat: none
  hook: none
endpoints:
  POST /berths: { does: create berth }
  GET /berths: { does: list berth }
  GET /berths/{id}: { does: read berth }
  PATCH /berths/{id}: { does: update berth }
  DELETE /berths/{id}: { does: delete berth }
  POST /stays: { does: create stay }
  GET /stays: { does: list stay, parameters: { berth: { in: query } } }
  GET /stays/{id}: { does: read stay }
  PATCH /stays/{id}: { does: update stay }
  POST /stays/{id}/arrive: { does: arrive stay }
  POST /stays/{id}/leave: { does: leave stay }
  GET /fees: { does: list fee, parameters: { stay: { in: query } } }
  GET /fees/{id}: { does: read fee }
  POST /fees/{id}/pay: { does: pay fee }
  POST /boats: { does: create boat }
  GET /boats/{id}: { does: read boat }
  PATCH /boats/{id}: { does: update boat }
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [all berth, all stay, all fee, all boat, all hook], to: master }
    - { allow: [read boat], to: guest, if: "resource.shown", fields: [id, name, shown] }
    - { allow: [all hook], to: guest }
events:
  delivery: { webhook: { signature: none, retry: [5s], timeout: 2s, subscribers: { resource: hook, url: url } } }
  kinds:
    fee.raised: { on: [create fee], payload: fee }
    boat.changed: { on: [create boat, update boat], payload: boat }
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    barred: { status: 403, when: caller.forbidden }
    unknown: { status: 401, when: caller.unknown }
    taken: { status: 409, when: resource.exists }
    not_now: { status: 409, when: transition.illegal }
    in_use: { status: 409, when: reference.held }
limits: { rate: none, pagination: { style: none, items: items } }
versioning: { versions: none }
`;

suite('where few values tell rows apart, and none of them goes, cases refer to the same', () => {
  let stand: Stand;
  let report: Awaited<ReturnType<Stand['verify']>>;
  before(async () => {
    stand = await openStand(harbour, {
      inPairs: true,
      serve: { allowPrivateWebhooks: true },
    });
    report = await stand.verify();
  });
  after(() => stand.close());

  const factOf = (kind: string, subject: string) => {
    const fact = report.facts.find((one) => one.kind === kind && one.subject === subject);
    assert.ok(fact, `${kind}:${subject}`);
    return fact;
  };

  test('nothing is said to be broken', () => {
    assert.deepEqual(report.breaches, []);
    assert.deepEqual(report.unsteady, []);
  });

  test('what follows from a change is told of', () => {
    assert.equal(factOf('emitting operations', 'fee.raised').verdict, 'held');
    assert.equal(factOf('payload shapes', 'fee.raised').verdict, 'held');
  });

  test('what is made along with something else has its identifiers and states looked at', () => {
    assert.equal(factOf('identifiers', 'fee').verdict, 'held');
    assert.equal(factOf('transitions', 'fee').verdict, 'held');
  });

  test('who is shown less of a row is told less of it', () => {
    const { verdict, evidence } = factOf('payload shapes', 'boat.changed');
    assert.equal(verdict, 'held', JSON.stringify(evidence?.looks));
    assert.ok(evidence?.looks?.some(({ name, isMet }) => name === 'told to a guest, who is shown less' && isMet));
  });
});

test('a service that does not tell of what follows from a change is found', async () => {
  const served = harbour.replace('    fee.raised: { on: [create fee], payload: fee }\n', '');
  const stand = await openStand(harbour, { inPairs: true, serve: { allowPrivateWebhooks: true }, served });
  try {
    const { breaches } = await stand.verify({ only: ['fee.raised'] });
    assert.deepEqual(
      breaches.map(({ kind, subject, reason }) => `${kind} ${subject} ${reason}`),
      ['emitting operations fee.raised follows leave stay'],
    );
  } finally {
    await stand.close();
  }
});

test('of few combinations the one is sent that was sent longest ago, with what is wanted of it', () => {
  const { spec } = check(parseDocument(harbour, 'harbour.yaml'));
  const session = { model: new Model(spec, [], '') } as unknown as Session;
  const run = { results: [], fresh: new DrawnValues(), draw: runDraw() };
  const none: ReadonlySet<string> = new Set();
  const drawn = { pier: 'north', place: 1 };
  const next = (wanted = none, body: { pier: string; place: number } = drawn) => {
    const given = { bound: none, wanted, changes: undefined };
    return JSON.stringify(resolve({ ...body, ...fewCombinations(session, 'berth', body, given) }, run));
  };
  const first = Array.from({ length: berths }, () => next());
  assert.equal(new Set(first).size, berths);
  assert.deepEqual(
    Array.from({ length: berths }, () => next()),
    first,
  );
  const wests = Array.from({ length: 10 }, () => next(new Set(['pier']), { pier: 'west', place: 3 }));
  assert.equal(new Set(wests).size, 10);
  assert.ok(wests.every((one) => one.includes('"west"')));
  assert.equal(next(new Set(['pier', 'place']), { pier: 'south', place: 7 }), '{"pier":"south","place":7}');
});

suite('of what there may be only so much', () => {
  const { spec } = check(parseDocument(harbour, 'harbour.yaml'));
  const model = new Model(spec, [], '');
  let made = 0;
  const unbound = new Model(
    check(parseDocument(harbour.replace('    unique: [[pier, place]]\n', ''), 'harbour.yaml')).spec,
    [],
    '',
  );
  // The casts hold: nothing else of a session is asked.
  const begun = (of = model) =>
    ({
      model: of,
      run: { owner: {}, results: [], fresh: new Map(), clock: { toService: (ms: number) => ms } },
      script: [],
      sentSince: () => [],
      takeOver: async () => new Map(),
    }) as unknown as Session;
  /** Cases that share rows, one after the other. */
  const sharing = (of: Model) => {
    const rows = new SharedRows(of);
    return () => {
      const session = begun(of);
      rows.open(session.run.owner, new Set());
      return session;
    };
  };
  const make = (resource: string) => async () => {
    made += 1;
    const id = `${resource}_${made}`;
    const value = answered(model, `POST /${resource}s`, { status: 201, body: { id } });
    return { resource, id, known: {}, caller: undefined, fields: { id }, made: { step: 0, value }, shown: undefined };
  };
  const madeFor = async (cases: number, resource: string, next: () => Session) => {
    made = 0;
    for (let count = 0; count < cases; count++) await sharedOr(next(), resource, {}, make(resource));
    return made;
  };

  test('a case that shares nothing refers to two of its own in turn, and of anything else to a new one each time', async () => {
    const [one, other] = [begun(), begun()];
    assert.equal(await madeFor(18, 'berth', () => one), 2);
    assert.equal(await madeFor(18, 'boat', () => other), 18);
  });

  test('more cases refer to one than to what may be made again and again', async () => {
    assert.equal(await madeFor(18, 'berth', sharing(model)), 1);
    // Stays are numbered within a berth, so that few refer to one of which there may be any number.
    assert.equal(await madeFor(18, 'berth', sharing(unbound)), 2);
  });

  test('where no more can be made, one to which as many refer as usually may serves again', async () => {
    const next = sharing(unbound);
    assert.equal(await madeFor(13, 'berth', next), 1);
    const full = async () => {
      throw new Untestable('there is room for no more');
    };
    assert.equal((await sharedOr(next(), 'berth', {}, full)).id, 'berth_1');
    await assert.rejects(sharedOr(next(), 'stay', {}, full), Untestable);
  });
});
