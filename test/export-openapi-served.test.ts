import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { toOpenApi } from '../src/convert/openapi.ts';
import { parseDocument, readDocument, serve } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';
import { exported } from './openapi/harness.ts';

const parcels = await readDocument(join(import.meta.dirname, '../examples/parcels.md'));

async function served(document: Parameters<typeof serve>[0], options: Parameters<typeof serve>[1] = {}) {
  const service = await serve(document, options);
  return {
    service,
    get: async (path: string, method = 'GET') => {
      const response = await service.fetch(new Request(`http://localhost${path}`, { method }));
      return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
    },
  };
}

test('the export stands under the base path', async () => {
  const { service, get } = await served(parcels);
  const { status, type, text } = await get('/v1/openapi.json');
  assert.deepEqual([status, type], [200, 'application/json']);
  const { servers, ...rest } = exported(parcels);
  const given = JSON.parse(text);
  assert.deepEqual({ ...given, servers: undefined }, { ...rest, servers: undefined });
  assert.deepEqual(
    given.servers,
    [{ url: '/v1', description: 'This service.' }, ...(servers as unknown[])],
    'a page that reads it asks here first',
  );
  assert.equal((await get('/openapi.json')).status, 404);
  assert.equal((await get('/v1/openapi.json', 'POST')).status, 405);
  await service.close();
});

test('an endpoint of the same path comes first', async () => {
  const stated = {
    endpoints: { 'GET /openapi.json': { does: 'reply', response: { 200: { shape: 'string', example: 'mine' } } } },
  };
  const { service, get } = await served(stated);
  assert.equal((await get('/openapi.json')).text, '"mine"');
  await service.close();
});

test('it is written when it is first asked for, once for each document', async () => {
  const written: string[] = [];
  const openapi = (spec: Parameters<typeof toOpenApi>[0]) => {
    written.push(spec.title);
    return JSON.stringify(toOpenApi(spec));
  };
  const { service, get } = await served(parcels, { openapi });
  assert.deepEqual(written, []);
  await Promise.all([get('/v1/openapi.json'), get('/v1/openapi.json')]);
  assert.deepEqual(written, ['Parcels']);
  await service.replace(readSpec(parseDocument('title: Another\npurpose: { base_url: "https://a.example/v1" }', 'another.yaml')));
  assert.equal(JSON.parse((await get('/v1/openapi.json')).text).info.title, 'Another');
  assert.deepEqual(written, ['Parcels', 'Another']);
  await service.close();
});

test('what could not be written is a failure of that request, and is tried again', async () => {
  let times = 0;
  const openapi = async () => {
    times += 1;
    if (times === 1) throw new Error('no room');
    return '{}';
  };
  const failures: unknown[] = [];
  const { service, get } = await served(parcels, { openapi, onFailure: (failure) => failures.push(failure) });
  assert.equal((await get('/v1/openapi.json')).status, 500);
  assert.equal((await get('/v1/openapi.json')).text, '{}');
  assert.equal(failures.length, 1);
  await service.close();
});
