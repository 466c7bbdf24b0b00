import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { type Source, take } from './import/source.ts';
import { answers, json, list, object, ref, sends, string } from './import/stand-in.ts';

/** Descriptions in which some operations ask for a credential, and others say nothing. */

const box = object({ id: string, name: string }, ['id', 'name']);
const asks = { security: [{ key: [] }] };

function describing(reading: object): Source {
  return {
    paths: {
      '/boxes': {
        post: { ...asks, ...sends(object({ name: string }, ['name'])), ...answers(ref('box')) },
        get: { ...reading, ...answers(list(ref('box'))) },
      },
      '/notes': { post: { requestBody: json(object({ text: string })), ...answers(object({ text: string })) } },
    },
    components: { schemas: { box }, securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  };
}

async function statuses(reading: object, options: { readonly strict?: boolean } = {}): Promise<readonly number[]> {
  const service = await serve(take(describing(reading)), { sample: true, ...options, onFailure: assert.ifError });
  const ask = async (path: string, method: string, key?: string) => {
    const body = method === 'POST' ? { body: '{"text":"a","name":"a"}' } : {};
    const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'x-key': key }) };
    return (await service.fetch(new Request(`http://127.0.0.1${path}`, { method, headers, ...body }))).status;
  };
  try {
    return [await ask('/boxes', 'GET'), await ask('/boxes', 'GET', 'wrong'), await ask('/notes', 'POST', 'wrong')];
  } finally {
    await service.close();
  }
}

test('where nothing is said of security for what is read, a wrong key is refused, and none is needed', async () => {
  assert.deepEqual(await statuses({}), [200, 401, 200]);
});

test('what says that it asks for none, and a stand-in that is strict, look at no key', async () => {
  assert.deepEqual((await statuses({ security: [] })).slice(0, 2), [200, 200]);
  assert.deepEqual(await statuses({}, { strict: true }), [200, 200, 200]);
});
