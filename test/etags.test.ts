import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';

test('each endpoint says its tag as it states it, and a strong one beside a weak one lets its caller change the row', async () => {
  const service = await serve({
    title: 'Notes',
    resources: {
      note: {
        identifier: { field: 'id', generate: 'client' },
        fields: { id: 'string', text: 'string' },
        required: ['id', 'text'],
      },
    },
    endpoints: {
      'POST /notes': { does: 'create note', etag: 'strong' },
      'GET /notes/{id}': { does: 'read note', etag: 'strong' },
      'GET /notes/{id}/short': { does: 'read note', as: 'glance at note', etag: 'weak' },
      'PATCH /notes/{id}': { does: 'update note', if_match: 'required', etag: 'strong' },
    },
    authentication: 'none',
  });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    );
  const made = (await send('POST', '/notes', { id: 'n1', text: 'a' })).headers.get('etag') ?? '';
  const strong = (await send('GET', '/notes/n1')).headers.get('etag') ?? '';
  const weak = (await send('GET', '/notes/n1/short')).headers.get('etag') ?? '';
  assert.match(strong, /^"/);
  assert.deepEqual([made, weak], [strong, `W/${strong}`]);
  assert.equal((await send('PATCH', '/notes/n1', { text: 'b' }, { 'if-match': weak })).status, 412);
  assert.equal((await send('PATCH', '/notes/n1', { text: 'b' }, { 'if-match': strong })).status, 200);
  assert.equal((await send('PATCH', '/notes/n1', { text: 'c' }, { 'if-match': strong })).status, 412);
  await service.close();
});
