import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../src/index.ts';
import type { GivenCaller } from '../src/verify/exchange/callers.ts';
import { type Bent, openStand, type Passing, type StandOptions } from './verify/stand.ts';

const order = 'order: [caller, rates, user, body, parameters, row, precondition, request, state]';
const rate = '{ per: caller, limit: 1200, window: 1m, kind: fixed, cost: { list order: 3 }, uncounted: [304] }';

/** Orders of a house, which those of the house may read, and whoever made one change; each with a number, and of a material that there is. */
const bench = `title: Bench
purpose: { purpose: Takes orders., users: { dentist: Orders., keeper: Keeps materials. } }
resources:
  material:
    identifier: { field: code }
    fields: { code: { type: string, pattern: "^[a-z]{3,12}$" }, name: { type: string, maxLength: 40 } }
    required: [code, name]
  order:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, readOnly: true }
      number: { type: string, readOnly: true, generate: "O-{number:5}" }
      material: { ref: material }
      shade: { type: string, maxLength: 4 }
      house: { type: string, readOnly: true, set: { create: caller.house } }
      dentist: { type: string, readOnly: true, set: { create: caller.id } }
    required: [id, number, material, shade, house, dentist]
states: { material: none, order: none }
endpoints:
  PUT /materials/{code}: { does: upsert material }
  GET /materials/{code}: { does: read material }
  POST /orders: { does: create order }
  GET /orders: { does: list order, pagination: none }
  GET /orders/{id}: { does: read order, etag: strong }
  PATCH /orders/{id}: { does: update order, if_match: required }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  attributes: { house: Where somebody works. }
  permissions:
    - { allow: all material, to: keeper }
    - { allow: [read material, create order], to: dentist }
    - { allow: [list order, read order], to: dentist, if: "resource.house == caller.house" }
    - { allow: [update order], to: dentist, if: "resource.dentist == caller.id" }
events: none
errors:
  payload: problem
  ${order}
  codes:
    wrong: { status: 422, when: request.invalid }
    dead: { status: 422, when: reference.missing }
    missing: { status: 404, when: resource.missing }
    not_yours: { status: 403, when: caller.forbidden }
    who: { status: 401, when: caller.unknown }
    tag_missing: { status: 428, when: precondition.required }
    tag_old: { status: 412, when: precondition.failed }
    slow: { status: 429, when: limit.rate }
limits:
  rate: [${rate}]
  headers: { limit: X-Limit, remaining: X-Left, reset: { X-Reset: seconds } }
versioning: none
`;

/** Two of one house, and one of another. */
async function ofHouses(service: Service): Promise<GivenCaller[]> {
  const all = ['linden', 'linden', 'harbour'].map(async (house, at): Promise<GivenCaller> => {
    const [id, attributes] = [`dentist-${at}-of-${house}`, { house }];
    const { secret } = (await service.administer('keys add', { user: 'dentist', id, attributes })) as { secret: string };
    return { user: 'dentist', id, scheme: 'key', credential: secret, attributes };
  });
  return Promise.all(all);
}

async function told(only: string, options: StandOptions = {}): Promise<{ reasons: string[]; lacking: readonly string[] }> {
  const stand = await openStand(bench, { besides: ofHouses, ...options });
  try {
    const callers = stand.callers.filter(({ id = '', user }) => user === 'keeper' || id.includes('-of-'));
    const { breaches, facts } = await stand.verify({ callers, only: [only], seed: 4 });
    const lacking = facts.flatMap(({ evidence }) => (evidence?.looks ?? []).flatMap(({ name, isMet }) => (isMet ? [] : [name])));
    return { reasons: [...new Set(breaches.map(({ kind, reason }) => `${kind}: ${reason}`))].sort(), lacking };
  } finally {
    await stand.close();
  }
}

/** Every number is one more once something was refused with a code. */
function skippingAfter(code: string): StandOptions['spoil'] {
  let skipped = 0;
  return ({ status, text }: Passing) => {
    if (status >= 400 && text.includes(`"code":"${code}"`)) skipped += 1;
    return {
      text: text.replaceAll(/"O-(\d{5})"/g, (_, digits: string) => `"O-${String(Number(digits) + skipped).padStart(5, '0')}"`),
    };
  };
}

test('a number that is used up by what is refused for a reference to nothing is a breach', async () => {
  const right = await told('resources/counted');
  assert.deepEqual(right.reasons, []);
  assert.ok(!right.lacking.includes('counted, after a reference to nothing'), right.lacking.join());
  const spoil = skippingAfter('dead');
  assert.deepEqual((await told('resources/counted', { ...(spoil && { spoil }) })).reasons, [
    'allowed values: counted, after a reference to nothing',
  ]);
});

test('whoever may read a row and not change it is told that before a tag is asked for, where the order says so', async () => {
  assert.deepEqual((await told('errors/order')).reasons, []);
  let lacksTag = false;
  const bend = ({ method, headers }: Bent): Partial<Bent> => {
    if (method === 'PATCH') lacksTag = headers['if-match'] === undefined;
    return {};
  };
  const text = JSON.stringify({ type: 'about:blank', title: 'Precondition Required', status: 428, code: 'tag_missing' });
  const spoil = ({ method, status }: Passing): Partial<Passing> =>
    method === 'PATCH' && status === 403 && lacksTag ? { status: 428, text } : {};
  const { reasons } = await told('errors/order', { bend, spoil });
  assert.ok(reasons.includes('conditions: row before precondition at PATCH /orders/{id}'), reasons.join());
});

test('what is told to be left of a rate shows what an operation costs, and what costs nothing', async () => {
  const right = await told('limits/told costs');
  assert.deepEqual(right.reasons, []);
  assert.deepEqual(
    right.lacking.filter((name) => /^(?:costs|uncounted) /.test(name)),
    [],
  );
  const cheaper = bench.replace('cost: { list order: 3 }, ', '');
  assert.deepEqual((await told('limits/told costs', { served: cheaper })).reasons, ['rate limits: costs 3']);
  const counting = bench.replace(', uncounted: [304]', '');
  assert.deepEqual((await told('limits/told costs', { served: counting })).reasons, ['rate limits: uncounted 304']);
  const dearer = bench.replace('cost: { list order: 3 }', 'cost: { list order: 3, create order: 2 }');
  assert.deepEqual((await told('limits/told costs', { served: dearer })).reasons, ['rate limits: costs 1']);
});

test('whoever may not change a row may be told so by the code of the rule, before anything else', async () => {
  const named = (text: string) =>
    text
      .replace('if: "resource.dentist == caller.id" }', 'if: "resource.dentist == caller.id", else: not_your_order }')
      .replace('    who:', '    not_your_order: { status: 403 }\n    who:');
  const stand = await openStand(named(bench), { besides: ofHouses });
  try {
    const callers = stand.callers.filter(({ id = '', user }) => user === 'keeper' || id.includes('-of-'));
    const { breaches } = await stand.verify({ callers, only: ['errors/order'], seed: 4 });
    assert.deepEqual(
      breaches.map(({ reason }) => reason),
      [],
    );
  } finally {
    await stand.close();
  }
});

test('what a rule leaves out is looked at by those whom no other rule shows more, not by whoever made the row', async () => {
  const mates = bench.replace(
    '- { allow: [list order, read order], to: dentist, if: "resource.house == caller.house" }',
    `- { allow: [list order, read order], to: dentist, if: "resource.dentist == caller.id" }
    - { allow: [list order, read order], to: dentist, if: "resource.house == caller.house", fields: [number, shade] }`,
  );
  const reasonsOf = async (served?: string) => {
    const stand = await openStand(mates, { besides: ofHouses, ...(served !== undefined && { served }) });
    try {
      const callers = stand.callers.filter(({ id = '', user }) => user === 'keeper' || id.includes('-of-'));
      const { breaches, facts } = await stand.verify({ callers, only: ['resources/shown to'], seed: 4 });
      const looks = facts.flatMap(({ evidence }) => (evidence?.looks ?? []).flatMap(({ name, isMet }) => (isMet ? [name] : [])));
      return { broken: breaches.map(({ kind, subject }) => `${kind}: ${subject}`), looks };
    } finally {
      await stand.close();
    }
  };
  const right = await reasonsOf();
  assert.deepEqual(right.broken, []);
  assert.ok(right.looks.includes('fields that rules leave out'));
  const { broken } = await reasonsOf(mates.replace(', fields: [number, shade]', ''));
  assert.ok(broken.includes('permission rules: read order'), broken.join());
});

test('what is counted within one word is not counted within another', async () => {
  const within = (text: string) =>
    text
      .replace('generate: "O-{number:5}" }', 'generate: "O-{number:5}", within: urgency }')
      .replace('      shade: {', '      urgency: { enum: [calm, rush], immutable: true }\n      shade: {')
      .replace('required: [id, number, material, shade,', 'required: [id, number, urgency, material, shade,');
  const told = async (served: string) => {
    const stand = await openStand(within(bench), { besides: ofHouses, served });
    try {
      const callers = stand.callers.filter(({ id = '', user }) => user === 'keeper' || id.includes('-of-'));
      const { breaches } = await stand.verify({ callers, only: ['resources/counted'], seed: 4 });
      return breaches.map(({ reason }) => reason);
    } finally {
      await stand.close();
    }
  };
  assert.deepEqual(await told(within(bench)), []);
  assert.ok((await told(within(bench).replace(', within: urgency', ''))).includes('counted, apart'));
});
