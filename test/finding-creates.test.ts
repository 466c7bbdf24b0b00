import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTypescript } from '../src/convert/typescript.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { valueAt } from '../src/document/source.ts';
import { type JsonMap, serve } from '../src/index.ts';
import { isKey } from '../src/parts/form.ts';
import { readSpec } from '../src/parts/spec.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { exported } from './openapi/harness.ts';
import { reluctant } from './stores/reluctant.ts';

const labels = {
  title: 'Labels',
  purpose: { users: { writer: 'Writes labels.', guest: 'Reads its own.' } },
  resources: {
    label: {
      identifier: { field: 'id', generate: 'uuid' },
      fields: {
        id: 'string',
        name: { type: 'string', maxLength: 20 },
        colour: { type: 'string', default: 'red' },
        owner: { type: 'string', readOnly: true, set: { create: 'caller.id' } },
        secret: { type: 'string', readOnly: true, generate: '{random:24}', reveal: 'once' },
      },
      required: ['id', 'name', 'colour', 'owner', 'secret'],
      unique: [['name']],
    },
  },
  endpoints: {
    'POST /labels': { does: 'create label', exists: 200, etag: 'strong', idempotency: { header: 'Idempotency-Key', keep: '1h' } },
    'GET /labels': { does: 'list label' },
    'GET /labels/{id}': { does: 'read label', etag: 'strong' },
  },
  authentication: {
    schemes: { key: { type: 'api_key', header: 'X-Key' } },
    permissions: [
      { allow: ['create label'], to: ['writer', 'guest'] },
      { allow: ['read label', 'list label'], to: 'writer' },
      { allow: ['read label', 'list label'], to: 'guest', if: 'resource.owner == caller.id' },
    ],
  },
  errors: { payload: 'problem', codes: { taken: { status: 409, when: 'resource.exists' } } },
  limits: { pagination: 'none' },
};

for (const [name, store] of [
  ['SQLite', () => openSqlite(':memory:')],
  ['a store that waits', () => reluctant(openSqlite(':memory:'), 3)],
] as const) {
  test(`a creation that finds answers with the row that is there, and changes nothing, on ${name}`, async () => {
    const service = await serve(labels, {
      store: store(),
      identify: (call) => {
        const [user = '', id = ''] = String(call.headers['x-key'] ?? '').split(' ');
        return user === '' ? undefined : { user, id, scopes: [], claims: {} };
      },
    } as Parameters<typeof serve>[1]);
    const send = async (who: string, method: string, path: string, body?: object) => {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const headers = { 'x-key': who, 'content-type': 'application/json' };
      const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, { method, headers, ...json }));
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
    };
    const made = await send('writer a', 'POST', '/labels', { name: 'bug' });
    assert.equal(made.status, 201);
    const found = await send('writer b', 'POST', '/labels', { name: 'bug', colour: 'blue' });
    const { secret, ...shown } = made.body;
    assert.ok(secret);
    assert.deepEqual([found.status, found.headers.get('location'), found.body], [200, null, shown]);
    assert.equal(found.headers.get('etag'), (await send('writer a', 'GET', `/labels/${shown.id}`)).headers.get('etag'));
    // Who may not read it learns no more than that it is taken, and what is not right is refused first.
    assert.equal((await send('guest g', 'POST', '/labels', { name: 'bug' })).status, 409);
    assert.equal((await send('writer a', 'POST', '/labels', { name: 'bug', colour: 5 })).status, 422);
    const raced = await Promise.all(Array.from({ length: 12 }, () => send('writer a', 'POST', '/labels', { name: 'new' })));
    assert.deepEqual(raced.map(({ status }) => status).toSorted(), [...Array.from({ length: 11 }, () => 200), 201]);
    assert.equal(new Set(raced.map(({ body }) => body.id)).size, 1);
    assert.equal(Object.keys((await send('writer a', 'GET', '/labels')).body).length, 2);
    await service.close();
  });
}

test('its OpenAPI and its types tell both answers: the new one with its secret, and the one that is there', () => {
  const document = parseDocument(JSON.stringify(labels), 'labels.json', { isKey });
  assert.match(toTypescript(readSpec(document)), /Filled<Label, 'secret'> \| Label/);
  const responses = valueAt(exported(document), '/paths/~1labels/post/responses');
  assert.deepEqual(
    Object.keys(responses as JsonMap).filter((status) => status.startsWith('2')),
    ['200', '201'],
  );
});
