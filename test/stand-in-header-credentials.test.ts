import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { type Source, take } from './import/source.ts';
import { answers, object, string } from './import/stand-in.ts';

/** Headers that callers are known by, where a description says nothing of security. */

type Words = Readonly<Record<string, unknown>>;

const inHeader = (name: string, required = true): Words => ({ name, in: 'header', required, schema: string });
const said = answers(object({ mood: string }, ['mood']));

/** A description whose paths all take these headers, but for one that takes none. */
const taking = (...headers: Words[]): { readonly paths: Words } => ({
  paths: {
    '/mood': { parameters: headers, get: said, put: said },
    '/weather': { parameters: headers, get: said, put: said },
    '/ping': { get: said },
  },
});

type Asked = (path: string, headers: Readonly<Record<string, string>>) => Promise<number>;

async function serving(
  source: Source,
  body: (ask: Asked, printed: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  const service = await serve(take(source), { sample: true, development: true });
  try {
    const ask: Asked = async (path, headers) => (await service.fetch(new Request(`http://127.0.0.1${path}`, { headers }))).status;
    await body(ask, Object.fromEntries(service.credentials.map(({ name, value }) => [name, value])));
  } finally {
    await service.close();
  }
}

test('a key that nearly all operations take is printed and asked for, and a wrong one is refused', async () => {
  await serving(taking(inHeader('xi-api-key', false)), async (ask, printed) => {
    assert.deepEqual(Object.keys(printed), ['xi-api-key']);
    assert.equal(await ask('/mood', printed), 200);
    assert.equal(await ask('/mood', { 'xi-api-key': 'nobodys' }), 401);
    assert.equal(await ask('/mood', {}), 401);
    assert.equal(await ask('/ping', {}), 200);
  });
});

test('a key is shown with the identifier of its application, and is refused beside a right one where it is wrong', async () => {
  await serving(taking(inHeader('X-Api-Id'), inHeader('X-Api-Key')), async (ask, printed) => {
    assert.deepEqual(Object.keys(printed).sort(), ['X-Api-Id', 'X-Api-Key']);
    assert.equal(await ask('/mood', printed), 200);
    assert.equal(await ask('/mood', { ...printed, 'X-Api-Key': 'nobodys' }), 401);
    // What says for whom a key is, a client has of its own.
    assert.equal(await ask('/mood', { ...printed, 'X-Api-Id': 'mine' }), 200);
    assert.equal(await ask('/mood', { 'X-Api-Key': printed['X-Api-Key'] ?? '' }), 401);
  });
});

const none: Readonly<Record<string, Source>> = {
  'of what a request does again': taking(inHeader('Idempotency-Key')),
  'of the next page': taking(inHeader('X-Next-Token', false)),
  'that is one of several which may be left out': taking(inHeader('X-Api-Key', false), inHeader('X-Access-Token', false)),
  'of one path alone': {
    paths: {
      '/mood': { parameters: [inHeader('X-Api-Key', false)], get: said },
      '/weather': { get: said, put: said, delete: said },
    },
  },
  'beside a scheme that is described': {
    ...taking(inHeader('X-Api-Key', false)),
    components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
    security: [],
  },
};

for (const [name, source] of Object.entries(none)) {
  test(`nobody is known by a key ${name}`, async () => {
    await serving(source, async (_, printed) =>
      assert.equal(
        Object.keys(printed).some((one) => /key|token/i.test(one)),
        false,
      ),
    );
  });
}
