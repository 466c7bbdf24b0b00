import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonMap, serve } from '../src/index.ts';

/** Accounts whose password and hint nobody is shown. */
const accounts: JsonMap = {
  title: 'Accounts',
  resources: {
    account: {
      identifier: { field: 'id', generate: 'client' },
      fields: {
        id: 'string',
        name: 'string',
        password: { type: 'string', writeOnly: true },
        length: { type: 'integer', readOnly: true, set: { write: 'has(next.password) ? size(next.password) : 0' } },
        hint: { type: 'string', writeOnly: true, default: 'none' },
        hinted: { type: 'boolean', readOnly: true, set: { write: 'has(next.hint) && next.hint != "none"' } },
      },
      required: ['id', 'name'],
    },
  },
  endpoints: {
    'PUT /accounts/{id}': { does: 'upsert account' },
    'GET /accounts/{id}': { does: 'read account' },
  },
  authentication: 'none',
} as JsonMap;

test('a replacement stores the hidden field that is sent with it, and keeps the one that is not', async () => {
  const service = await serve(accounts, { store: ':memory:' });
  const put = async (body: JsonMap) => {
    const answer = await service.fetch(
      new Request('http://127.0.0.1/accounts/a', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    const { length, hinted } = (await answer.json()) as { length: number; hinted: boolean };
    return { status: answer.status, length, hinted };
  };
  assert.deepEqual(await put({ id: 'a', name: 'Ada', password: 'long enough', hint: 'cat' }), {
    status: 201,
    length: 11,
    hinted: true,
  });
  assert.deepEqual(await put({ id: 'a', name: 'Ada L.' }), { status: 200, length: 11, hinted: true }, 'nothing of it was sent');
  assert.deepEqual(await put({ id: 'a', name: 'Ada L.', password: 'new one' }), { status: 200, length: 7, hinted: true });
  assert.deepEqual(await put({ id: 'a', name: 'Ada L.', hint: 'none' }), { status: 200, length: 7, hinted: false });
  await service.close();
});
