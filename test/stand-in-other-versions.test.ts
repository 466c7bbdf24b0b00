import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isVersion, versionAsked } from '../src/serve/resources/stand-in/version-words.ts';
import { part } from './import/source.ts';
import { answers, json, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** Clients of a later version than their description, and what generators write of what may be anything. */

const version = { name: 'api-version', in: 'query', required: true, schema: { enum: ['2019-05-01-preview'] } };
const kind = { name: 'model-kind', in: 'query', schema: { enum: ['2019'] } };
const berth = object({
  id: string,
  name: string,
  options: { type: 'object', additionalProperties: { type: 'object' } },
  provisioningState: { enum: ['Creating', 'Succeeded', 'Failed'], readOnly: true },
});
const paths = {
  '/berths': {
    post: { parameters: [version], ...sends(ref('berth')), ...answers(ref('berth'), {}, '201') },
    get: { parameters: [version, kind], ...answers(list(ref('berth'))) },
  },
  '/berths/{id}': { ...within('id'), get: { parameters: [version], ...answers(ref('berth')) } },
};
const servers = [{ url: 'https://harbour.example/moorings/v3.2/berthing' }];

test('words that name versions, and words that do not', () => {
  for (const word of ['v2', 'V10.1', '3.4-preview', '2019-05-01', '2019-05-01-preview', '2024-06', 'v1beta1', 'v1-rc.2', '6.0'])
    assert.ok(isVersion(word), word);
  for (const word of [
    '',
    'v',
    'version',
    'vx',
    '2019',
    '42',
    'training',
    '2019-05-01T00:00:00Z',
    'a1.2',
    'v1/x',
    `v1-rc${'a'.repeat(60)}`,
  ])
    assert.ok(!isVersion(word), word);
  assert.equal(versionAsked('take=3&api-version=2021-06-01&edition=v2&version=latest'), '?api-version=2021-06-01');
  assert.equal(versionAsked(''), '');
});

test('a client of another version is answered, and told', async () => {
  await standIn(
    paths,
    { berth },
    async (ask) => {
      const made = await ask('POST', '/moorings/v3.4-preview/Berthing/berths?api-version=2021-06-01-preview', { name: 'a' });
      assert.equal(made.status, 201);
      const told = made.headers.get('ninefold-warning') ?? '';
      assert.match(told, /version v3\.4-preview is not stated/);
      assert.match(told, /query api-version is not stated/);
      // Who follows an address adds nothing to it.
      const address = made.headers.get('location') ?? '';
      assert.equal(address, `http://127.0.0.1/moorings/v3.2/berthing/berths/${made.json.id}?api-version=2021-06-01-preview`);
      const read = await ask('GET', address.replace('http://127.0.0.1', ''));
      assert.deepEqual([read.status, read.json.name, read.json.provisioningState], [200, 'a', 'Succeeded']);
      const base = '/moorings/v3.2/berthing/berths?api-version=2019-05-01-preview';
      assert.equal((await ask('GET', base)).headers.get('ninefold-warning'), null);
      // No version is what is no word for one, and what has one word of several is as it is stated.
      assert.equal((await ask('GET', `${base}&model-kind=2020`)).status, 400);
      assert.equal((await ask('GET', base.replace('2019-05-01-preview', 'newest'))).status, 400);
      for (const path of ['/moorings/v3.2/docking/berths', '/moorings/later/berthing/berths', '/v3.4/moorings/berthing/berths'])
        assert.equal((await ask('GET', `${path}?api-version=2019-05-01-preview`)).status, 404, path);
    },
    { servers },
  );
});

test('with --strict another version is refused', async () => {
  const check = async (ask: Parameters<Parameters<typeof standIn>[2]>[0]) => {
    assert.equal((await ask('GET', '/moorings/v3.4/berthing/berths?api-version=2019-05-01-preview')).status, 404);
    assert.equal((await ask('GET', '/moorings/v3.2/berthing/berths?api-version=2021-06-01')).status, 400);
  };
  await standIn(paths, { berth }, check, { servers }, true);
});

test('any value passes in a map whose values are said to be objects and no more', async () => {
  await standIn(
    paths,
    { berth },
    async (ask) => {
      const sent = { name: 'a', options: { lit: 'true', more: { deep: 1 } } };
      const made = await ask('POST', '/moorings/v3.2/berthing/berths?api-version=2019-05-01-preview', sent);
      assert.deepEqual([made.status, made.json.options], [201, sent.options]);
    },
    { servers },
  );
});

test('what is said of all other members of a part of a conjunction is not said of those of the other parts', () => {
  const base = { ...object({ id: string, kind: string }, ['kind']), additionalProperties: { type: 'object' } };
  const anything = { ...base, additionalProperties: {} };
  const texts = { ...base, additionalProperties: string };
  const of = (name: string) => ({ allOf: [ref(name), object({ open: { type: 'boolean' } })] });
  const schemas = { base, anything, texts, gate: of('base'), door: of('anything'), wall: of('texts') };
  const paths = Object.fromEntries(
    ['gate', 'door', 'wall'].flatMap((name) => [
      [`/${name}s`, { post: { ...sends(ref(name)), responses: { 201: { description: 'Made.', ...json(ref(name)) } } } }],
      [`/${name}s/{id}`, { ...within('id'), get: answers(ref(name)) }],
    ]),
  );
  const endpoints = part({ paths, components: { schemas } }, 'endpoints') as Record<string, { readonly does?: string }>;
  assert.equal(endpoints['POST /gates']?.does, 'create gate');
  assert.equal(endpoints['POST /doors']?.does, 'create door');
  // Members of one type are more than a list of fields says.
  assert.equal(endpoints['POST /walls']?.does, undefined);
});
