import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { type Source, take } from './import/source.ts';
import { answers, object, sends, string } from './import/stand-in.ts';

const token = object({ access_token: string, expires_in: { type: 'integer' } }, ['access_token']);
const key = { security: [{ bearer: [] }] };
const paths = {
  '/auth/api-key': { post: { ...key, ...sends(object({ apiKey: string }, ['apiKey'])), ...answers(token) } },
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
