import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';

const resources = {
  note: { identifier: { field: 'id', generate: 'uuid' }, fields: { id: 'string', text: 'string' }, required: ['id'] },
};

/** The status and the text of what a request without a body makes. */
async function post(words: Readonly<Record<string, string>>, body?: string): Promise<readonly [number, unknown]> {
  const service = await serve({
    title: 'Notes',
    authentication: 'none',
    resources,
    endpoints: { 'POST /notes': { does: 'create note', ...words } },
  });
  const headers = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body };
  const response = await service.fetch(new Request('http://localhost/notes', { method: 'POST', ...headers }));
  const { text } = (await response.json()) as { text?: string };
  await service.close();
  return [response.status, text];
}

test('a stated body has to be sent', async () => {
  assert.deepEqual(await post({}), [400, undefined]);
});

test('one that is optional need not be, and is taken where it is', async () => {
  assert.deepEqual(await post({ body: 'optional' }), [201, undefined]);
  assert.deepEqual(await post({ body: 'optional' }, '{ "text": "a" }'), [201, 'a']);
});

test('a field that a stated body leaves out has its default, also one with a name that every object answers to', async () => {
  const fields = { id: 'string', text: 'string', toString: { type: 'string', default: 'p' } };
  const service = await serve({
    title: 'Notes',
    authentication: 'none',
    resources: { note: { ...resources.note, fields } },
    endpoints: { 'POST /notes': { does: 'create note', request: { type: 'object', properties: { text: { type: 'string' } } } } },
  });
  const headers = { 'content-type': 'application/json' };
  const response = await service.fetch(new Request('http://localhost/notes', { method: 'POST', headers, body: '{}' }));
  const made: unknown = await response.json();
  await service.close();
  assert.equal(Object.entries(made as object).find(([name]) => name === 'toString')?.[1], 'p');
});

test('what a path says of a row is of the type of its field: a number of a parent, a truth, a text', async () => {
  const service = await serve({
    title: 'Shelves',
    resources: {
      shelf: { identifier: { field: 'id', generate: 'integer' }, fields: { id: 'integer' }, required: ['id'] },
      book: {
        identifier: { field: 'id', generate: 'client' },
        fields: { id: 'string', shelf: { ref: 'shelf' }, lent: 'boolean', size: 'number', room: 'string' },
        required: ['id'],
      },
    },
    endpoints: {
      'POST /shelves': { does: 'create shelf' },
      'POST /shelves/{shelf}/books': { does: 'create book' },
      'POST /rooms/{room}/sizes/{size}/lent/{lent}': { does: 'create book', as: 'place book' },
    },
    authentication: 'none',
  });
  const make = async (path: string, body: unknown) => {
    const answer = await service.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    );
    return [answer.status, await answer.json()];
  };
  assert.deepEqual(await make('/shelves', {}), [201, { id: 1 }]);
  assert.deepEqual(await make('/shelves/1/books', { id: 'a' }), [201, { id: 'a', shelf: 1 }]);
  assert.deepEqual(await make('/rooms/7/sizes/1.5/lent/true', { id: 'b' }), [201, { id: 'b', lent: true, size: 1.5, room: '7' }]);
  await service.close();
});
