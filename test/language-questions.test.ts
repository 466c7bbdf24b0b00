import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answered, tryService } from './serving/tried.ts';

/** What docs/language.md answers that its first readers had to guess of states, keys, pages, tags, rates and versions; each test holds one answer. */
const plants = `
purpose: { purpose: Keeps plants., users: { gardener: Plants., visitor: Looks. } }
resources:
  plant:
    identifier: { field: id, generate: client }
    fields: { id: { type: string, pattern: "^[a-z]{2,8}$" }, name: string, found: { type: string, immutable: true }, state: { type: string, readOnly: true } }
    required: [id, name, state]
states: { plant: { field: state, initial: seed, states: [seed, grown], transitions: { grow: { from: seed, to: grown, else: grown_already } } } }
endpoints:
  GET /plants: { does: list plant, parameters: { name: { in: query, filters: name, op: contains } }, order: name }
  GET /plants/{id}: { does: read plant, etag: weak }
  PUT /plants/{id}: { does: upsert plant, response: { 200: plant, 201: plant } }
  PATCH /plants/{id}: { does: update plant, if_match: accepted }
  POST /plants/{id}/grow: { does: grow plant, idempotency: { header: Key, keep: 1h } }
authentication: none
errors:
  payload: problem
  codes:
    grown_already: { status: 409 }
    invalid: { status: 422, when: request.invalid }
    changed: { status: 412, when: precondition.failed }
    page: { status: 400, when: limit.page }
limits: { pagination: { style: cursor, cursor: cursor, size: limit, default: 1, max: 5, over_max: refuse, items: data, next: next } }
`;

type Body = {
  readonly code?: string;
  readonly next?: string;
  readonly found?: string;
  readonly data?: readonly { readonly id: string }[];
};
const bodyOf = ({ json }: Answered) => (json ?? {}) as Body;
const told = (answer: Answered) => [answer.status, bodyOf(answer).code];

test('an upsert answers 201 where it makes a row and 200 where it changes one, and a rule for creations lets it make one', async () => {
  const { send, close } = await tryService(plants);
  const put = (body: unknown) => send('PUT', '/plants/ash', { body });
  assert.deepEqual([(await put({ name: 'Ash' })).status, (await put({ name: 'Oak' })).status], [201, 200]);
  await close();
  const rules = (allow: string) =>
    plants.replace(
      'authentication: none',
      `authentication:\n  schemes: { key: { type: api_key, header: X-Key } }\n  permissions: [{ allow: [${allow}, read plant], to: gardener }]\n`,
    );
  for (const [allow, statuses] of [
    ['create plant', [201, 403]],
    ['upsert plant', [201, 200]],
  ] as const) {
    const guarded = await tryService(
      rules(allow).replace('GET /plants/{id}:', 'POST /plants: { does: create plant }\n  GET /plants/{id}:'),
      {
        identify: () => ({ user: 'gardener', id: 'g', scopes: [] }),
      },
    );
    const seen = [];
    for (const name of ['Ash', 'Oak']) seen.push((await guarded.send('PUT', '/plants/elm', { body: { name } })).status);
    await guarded.close();
    assert.deepEqual(seen, statuses, allow);
  }
});

test('what replaces a row and leaves out an immutable field keeps it', async () => {
  const { send, close } = await tryService(plants);
  await send('PUT', '/plants/ash', { body: { name: 'Ash', found: 'here' } });
  assert.equal(bodyOf(await send('PUT', '/plants/ash', { body: { name: 'Oak' } })).found, 'here');
  assert.deepEqual(told(await send('PUT', '/plants/ash', { body: { name: 'Oak', found: 'there' } })), [422, 'invalid']);
  await close();
});

test('the error of a transition from a wrong state is kept under a key, and answered again', async () => {
  const { send, close } = await tryService(plants);
  await send('PUT', '/plants/ash', { body: { name: 'Ash' } });
  await send('POST', '/plants/ash/grow');
  const grow = () => send('POST', '/plants/ash/grow', { headers: { key: 'k' } });
  const [first, again] = [await grow(), await grow()];
  assert.deepEqual([told(first), again.text], [[409, 'grown_already'], first.text]);
  await close();
});

test('a weak tag is never equal for If-Match', async () => {
  const { send, close } = await tryService(plants);
  await send('PUT', '/plants/ash', { body: { name: 'Ash' } });
  const { etag = '' } = (await send('GET', '/plants/ash')).headers;
  assert.match(etag, /^W\//);
  const patch = (tag: string) => send('PATCH', '/plants/ash', { headers: { 'if-match': tag }, body: { name: 'Oak' } });
  assert.deepEqual([told(await patch(etag)), (await patch('*')).status], [[412, 'changed'], 200]);
  await close();
});

test('a cursor is a place in the order of its query: it takes another size, no other filter, and stays good while rows come and go', async () => {
  const { send, close } = await tryService(plants);
  for (const id of ['aa', 'bb', 'cc', 'dd']) await send('PUT', `/plants/${id}`, { body: { name: id } });
  const { next = '' } = bodyOf(await send('GET', '/plants?limit=2'));
  await send('PUT', '/plants/ab', { body: { name: 'ab' } });
  await send('PUT', '/plants/ca', { body: { name: 'ca' } });
  const page = async (more = '') => bodyOf(await send('GET', `/plants?cursor=${next}${more}`)).data?.map(({ id }) => id);
  assert.deepEqual([await page(), await page('&limit=5')], [['ca'], ['ca', 'cc', 'dd']]);
  assert.deepEqual(told(await send('GET', `/plants?cursor=${next}&name=c`)), [400, 'page']);
  await close();
});

test('what is refused before a rate is asked counts nothing in it', async () => {
  const { send, close } = await tryService(
    plants.replace('limits: {', 'limits: { rate: [{ per: everyone, limit: 2, window: 1h }], size: { url: 60 },'),
  );
  const statuses = [];
  for (const path of ['/nothing', `/plants?name=${'x'.repeat(80)}`, '/plants', '/plants', '/plants'])
    statuses.push((await send('GET', path)).status);
  assert.deepEqual(statuses, [404, 414, 200, 200, 429]);
  await close();
});

const versions = `
purpose: { base_url: "https://plants.example/base" }
resources: { plant: { identifier: { field: id, generate: uuid }, fields: { id: string, name: string, height: integer }, required: [id, name] } }
endpoints:
  GET /plants: { does: list plant, parameters: { height: { in: query } } }
  GET /plants/{id}: { does: read plant }
authentication: none
errors: { payload: problem, codes: { missing: { status: 404, when: [resource.missing, route.unknown] }, no_version: { status: 400, when: version.unknown }, parameter: { status: 400, when: request.parameter } } }
versioning:
  versions: { "1": { deprecated: 2026-01-01, sunset: 2027-01-01 }, "2": { current: true } }
  select: { path: "/{version}", default: none }
  guarantee: additive
  changes: { "2": [{ add: plant.height }] }
`;

test('a path without a version is of no version, refusals of a deprecated one say so too, and its parameters are those of its fields', async () => {
  const { send, close } = await tryService(versions);
  assert.deepEqual(told(await send('GET', '/base/plants')), [400, 'no_version']);
  assert.deepEqual(told(await send('GET', '/base/3/plants')), [400, 'no_version']);
  const missing = await send('GET', '/base/1/plants/none');
  assert.deepEqual([told(missing), missing.headers.deprecation], [[404, 'missing'], '@1767225600']);
  assert.deepEqual(told(await send('GET', '/base/1/plants?height=3')), [400, 'parameter']);
  assert.equal((await send('GET', '/base/2/plants?height=3')).status, 200);
  await close();
});
