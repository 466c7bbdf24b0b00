import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tryService } from './serving/tried.ts';

const document = `
purpose: { purpose: Keeps boxes., users: { keeper: Keeps. } }
resources:
  box:
    identifier: { field: id, generate: integer }
    fields: { id: integer, name: { type: string, maxLength: 4 } }
    required: [id]
endpoints:
  POST /boxes:
    does: create box
    request: { type: object, properties: { name: { type: string } } }
  GET /boxes:
    does: list box
    pagination: { style: offset, offset: from, size: size, default: 1, max: 1, items: none, told: link }
    response: { 200: { shape: { type: object, properties: { boxes: [box], next: "string?" }, required: [boxes] }, data: { boxes: items, next: next_cursor } } }
  DELETE /boxes/{id}: { does: delete box, response: { 200: { shape: box } } }
  GET /twice/{n}:
    does: handler twice
    parameters: { n: { in: path, type: integer } }
    response: { 200: { shape: { type: object, properties: { twice: integer } }, headers: { X-Twice: "string(result.twice)" } } }
authentication: none
errors:
  payload:
    shape: { type: object, properties: { code: string, message: string, inner: { type: object, properties: { code: string } } }, required: [message] }
    data: { code: code, message: message, inner: "{'code': code}" }
`;

const handlers = {
  twice: async ({ params }: { readonly params: Readonly<Record<string, unknown>> }) => ({ twice: 2 * Number(params.n) }),
};

test('what a stated body lets pass is held to the shape of its row', async () => {
  const { send, close } = await tryService(document, { handlers });
  assert.equal((await send('POST', '/boxes', { body: { name: 'long enough' } })).status, 422);
  assert.equal((await send('POST', '/boxes', { body: { name: 'tin' } })).status, 201);
  await close();
});

test('a cursor that is a number is a text to what an answer states', async () => {
  const { send, close, failures } = await tryService(document, { handlers });
  for (const name of ['one', 'two']) await send('POST', '/boxes', { body: { name } });
  const { json } = await send('GET', '/boxes');
  assert.equal((json as { readonly next: unknown }).next, '1');
  assert.deepEqual(failures, []);
  await close();
});

test('a deletion that states a shape answers what the row was', async () => {
  const { send, close } = await tryService(document, { handlers });
  await send('POST', '/boxes', { body: { name: 'tin' } });
  const { status, json } = await send('DELETE', '/boxes/1');
  assert.deepEqual([status, json], [200, { id: 1, name: 'tin' }]);
  await close();
});

test('the stated header fields of a handler leave with its answer', async () => {
  const { send, close } = await tryService(document, { handlers });
  assert.equal((await send('GET', '/twice/21')).headers['x-twice'], '42');
  await close();
});

test('a refusal without a code leaves out what has no value, at any depth', async () => {
  const { send, close } = await tryService(document, { handlers });
  const { json } = await send('GET', '/nowhere');
  assert.deepEqual(json, { message: (json as { readonly message: unknown }).message, inner: {} });
  await close();
});
