import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { type Source, take } from './import/source.ts';
import { answers, object, sends, string } from './import/stand-in.ts';

const token = object({ access_token: string, expires_in: { type: 'integer' } }, ['access_token']);
const key = { security: [{ bearer: [] }] };
const paths = {
  '/auth/api-key': { post: { ...key, ...sends(object({ apiKey: string }, ['apiKey'])), ...answers(token) } },
  '/token/new': {
    post: {
      ...key,
      ...sends(object({ secret_id: string, secret_key: string }, ['secret_id', 'secret_key'])),
      ...answers(object({ access: string, refresh: string }, ['access', 'refresh'])),
    },
  },
  '/grants': {
    post: { ...key, ...sends(object({ secret_key: string })), ...answers(object({ access: string, level: string })) },
  },
  '/tokens': { post: { ...key, ...sends(object({ name: string })), ...answers(token) } },
  '/members': { post: { ...key, ...sends(object({ password: string })), ...answers(object({ id: string })) } },
  '/me': { get: { ...key, ...answers(object({ name: string }, ['name'])) } },
};
const source: Source = { paths, components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } } };

async function ask(
  strict: boolean,
  use: (send: (path: string, body?: object, token?: string) => Promise<Response>) => Promise<void>,
) {
  const service = await serve(take(source), { sample: true, development: true, strict });
  try {
    await use((path, body, token) =>
      service.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method: body ? 'POST' : 'GET',
          headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
          ...(body && { body: JSON.stringify(body) }),
        }),
      ),
    );
  } finally {
    await service.close();
  }
}

test('who shows a key in a body to be given a token needs none before, and the token is good from then on', () =>
  ask(false, async (send) => {
    const given = await send('/auth/api-key', { apiKey: 'k' });
    assert.equal(given.status, 200);
    assert.match(String(given.headers.get('ninefold-warning')), /no credential/);
    const { access_token: own } = (await given.json()) as { access_token: string };
    assert.equal((await send('/me', undefined, own)).status, 200);
    assert.equal((await send('/me', undefined, `${own}x`)).status, 401);
    // A wrong one is no missing one.
    assert.equal((await send('/auth/api-key', { apiKey: 'k' }, 'wrong')).status, 401);
  }));

test('what gives a token for no credential, or takes a password and gives none, asks for one; so does all of it where a stand-in is strict', async () => {
  await ask(false, async (send) => {
    assert.equal((await send('/tokens', { name: 'n' })).status, 401);
    assert.equal((await send('/members', { password: 'p' })).status, 401);
  });
  await ask(true, async (send) => assert.equal((await send('/auth/api-key', { apiKey: 'k' })).status, 401));
});

test('a pair of which one is called access is a pair of tokens; an access that stands alone is none', () =>
  ask(false, async (send) => {
    const given = await send('/token/new', { secret_id: 'i', secret_key: 'k' });
    assert.equal(given.status, 200);
    const { access } = (await given.json()) as { access: string };
    assert.equal((await send('/me', undefined, access)).status, 200);
    assert.equal((await send('/grants', { secret_key: 'k' })).status, 401);
  }));

test('a token that stands where a key stands is one credential with it', async () => {
  const both: Source = {
    paths: {
      '/mine': { get: { security: [{ signed: [] }], ...answers(object({ name: string }, ['name'])) } },
      '/all': { get: { security: [{ app: [] }, { signed: [] }], ...answers(object({ name: string }, ['name'])) } },
      '/of-apps': { get: { security: [{ app: [] }], ...answers(object({ name: string }, ['name'])) } },
    },
    components: {
      securitySchemes: {
        app: { type: 'http', scheme: 'bearer' },
        signed: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://id.example/token', scopes: {} } } },
      },
    },
  };
  const service = await serve(take(both), { sample: true, development: true });
  try {
    assert.equal(new Set(service.credentials.map(({ value }) => value)).size, 1);
    const [credential] = service.credentials;
    for (const path of ['/mine', '/all', '/of-apps']) {
      const headers = { authorization: credential?.value ?? '' };
      assert.equal((await service.fetch(new Request(`http://127.0.0.1${path}`, { headers }))).status, 200, path);
    }
  } finally {
    await service.close();
  }
});
