import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../src/index.ts';
import type { GivenCaller } from '../src/verify/exchange/callers.ts';
import { type Bent, openStand, type Passing, type StandOptions } from './verify/stand.ts';

/** Sailings of an island, whose window of the tide ends them, and slips of freight of which clearing shows a part. */
const tides = `title: Tides
purpose: { purpose: Lets boats sail., users: { shipper: Sends goods., master: Keeps a quay. } }
resources:
  tide:
    identifier: none
    fields: { opens_at: { type: string, format: date-time }, closes_at: { type: string, format: date-time } }
    required: [opens_at, closes_at]
  sailing:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      vessel: { type: string, minLength: 2, maxLength: 40 }
      tide: tide
      home: { type: string, readOnly: true, set: { create: caller.isle } }
      state: { type: string, readOnly: true }
    required: [id, vessel, tide, home, state]
    rules: { forward: { if: "next.tide.closes_at <= next.tide.opens_at", field: tide } }
  slip:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      number: { type: string, readOnly: true, generate: "S-{number:5}" }
      sailing: { ref: sailing, immutable: true }
      goods: { type: string, minLength: 2, maxLength: 80 }
      stage: { type: string, readOnly: true }
      customs: { type: string, readOnly: true }
    required: [id, number, sailing, goods, stage, customs]
states:
  sailing:
    field: state
    initial: planned
    states: [planned, over]
    transitions: { miss_tide: { from: planned, to: over, at: resource.tide.closes_at } }
  slip.stage:
    initial: filed
    states: [filed, loaded]
    transitions: { load: { from: filed, to: loaded, if: "resource.customs == 'cleared'" } }
  slip.customs:
    initial: unseen
    states: [unseen, cleared]
    transitions: { clear: unseen -> cleared }
endpoints:
  POST /sailings: { does: create sailing }
  GET /sailings/{id}: { does: read sailing }
  PATCH /sailings/{id}: { does: update sailing }
  POST /slips: { does: create slip }
  GET /slips/{id}: { does: read slip, expand: { parameter: with, depth: 1 } }
  POST /slips/{id}/load: { does: load slip }
  POST /slips/{id}/clear:
    does: clear slip
    response:
      200:
        shape: { type: object, properties: { number: { type: string }, customs: { type: string } }, required: [number, customs] }
        data: { number: result.number, customs: result.customs }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  attributes: { isle: Where somebody works. }
  permissions:
    - { allow: [create sailing, read sailing], to: master }
    - { allow: [update sailing], to: master, if: "resource.home == caller.isle" }
    - { allow: [create slip, read slip, read sailing], to: shipper }
    - { allow: [read slip, load slip, clear slip], to: master, if: "resource.sailing.home == caller.isle" }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    not_yours: { status: 403, when: caller.forbidden }
    shut: { status: 409, when: transition.illegal }
    gone: { status: 422, on: [create sailing], if: "next.tide.closes_at <= now" }
limits: { rate: none }
versioning: none
`;

const hourMs = 3_600_000;

/** Two masters of one isle, one of another, and somebody who sends goods. */
async function ofIsles(service: Service): Promise<GivenCaller[]> {
  const all = [
    ['master', 'skag'],
    ['master', 'skag'],
    ['master', 'brim'],
    ['shipper', 'skag'],
  ].map(async ([user = '', isle = ''], at): Promise<GivenCaller> => {
    const [id, attributes] = [`${user}-${at}-of-${isle}`, { isle }];
    const { secret } = (await service.administer('keys add', { user, id, attributes })) as { secret: string };
    return { user, id, scheme: 'key', credential: secret, attributes };
  });
  return Promise.all(all);
}

async function told(only: readonly string[], options: StandOptions = {}): Promise<string[]> {
  const stand = await openStand(tides, { besides: ofIsles, ...options });
  try {
    const callers = stand.callers.filter(({ id = '' }) => id.includes('-of-'));
    const { breaches } = await stand.verify({ callers, only, seed: 3 });
    return [...new Set(breaches.map(({ kind, subject, reason }) => `${kind}, ${subject}: ${reason}`))].sort();
  } finally {
    await stand.close();
  }
}

test('what an act shows a part of is read again before anything is reckoned of it', async () => {
  assert.deepEqual(await told(['authentication/rows', 'authentication/users', 'states/transitions']), []);
});

test('the moments inside of a value are sent as conditions ask for them, and far enough off that the clock moves no row meanwhile', async () => {
  const sent: { readonly closes: number; readonly status: number }[] = [];
  const spoil = ({ method, target, sent: body, status }: Passing): Partial<Passing> => {
    if (method !== 'POST' || target !== '/sailings' || !body.includes('"closes_at"')) return {};
    const { tide } = JSON.parse(body) as { tide: { closes_at: string } };
    sent.push({ closes: Date.parse(tide.closes_at) - Date.now(), status });
    return {};
  };
  assert.deepEqual(await told(['resources/changed', 'authentication/users'], { spoil }), []);
  assert.ok(
    sent.some(({ status }) => status === 201),
    'no sailing was made',
  );
  assert.deepEqual(
    sent.filter(({ closes }) => closes < 48 * hourMs || closes > 96 * hourMs),
    [],
  );
});

test('a reference that is a whole number is shown whole where it is asked for', async () => {
  assert.deepEqual(await told(['endpoints/expanded']), []);
  const bend = ({ target }: Bent): Partial<Bent> => ({ target: target.replace(/with=[a-z]+/, '').replace(/\?$/, '') });
  assert.deepEqual(await told(['endpoints/expanded'], { bend }), ['response payload shapes, GET /slips/{id}: expanded']);
});
