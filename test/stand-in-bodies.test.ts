import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument, serve } from '../src/index.ts';

const openapi = (servers: string) => `
openapi: 3.1.0
info: { title: Things, version: "1" }
servers: ${servers}
paths:
  /things:
    post:
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/thing" } } } }
      responses: { "201": { description: Made., content: { application/json: { schema: { $ref: "#/components/schemas/thing" } } } } }
components:
  schemas: { thing: { type: object, properties: { id: { type: string, readOnly: true }, name: { type: string } } } }
`;

const post = async (path: string, servers: string, options: object) => {
  const service = await serve(parseDocument(openapi(servers), 'things.yaml'), { sample: true, ...options });
  const body = '{"name":"a","name":"b"}';
  const headers = { 'content-type': 'application/json' };
  const response = await service.fetch(new Request(`http://127.0.0.1${path}`, { method: 'POST', headers, body }));
  const text = await response.text();
  await service.close();
  return { status: response.status, text, warning: response.headers.get('ninefold-warning') };
};

test('a key that comes twice in one object is let pass by a stand-in, the last one counting, with a warning; not with `strict`', async () => {
  const { status, text, warning } = await post('/things', '[]', {});
  assert.equal(status, 201);
  assert.equal(JSON.parse(text).name, 'b');
  assert.match(String(warning), /the key "name" twice in one object/);
  assert.equal((await post('/things', '[]', { strict: true })).status, 400);
});

test('a server of which the host is named without a scheme has the path behind it alone', async () => {
  assert.equal((await post('/things', '[{ url: "//api.example" }]', {})).status, 201);
  assert.equal((await post('/v2/things', '[{ url: "//api.example/v2/" }]', {})).status, 201);
  assert.equal((await post('/things', '[{ url: "//api.example/v2/" }]', {})).status, 404);
});

test('a stand-in writes XML where it is asked for or stated alone, reads it by its shape, and takes it as bytes or a text where it is some', async () => {
  const thing = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const content = (types: readonly string[], schema: unknown) => Object.fromEntries(types.map((type) => [type, { schema }]));
  const takes = (types: readonly string[], schema: unknown) => ({ requestBody: { content: content(types, schema) } });
  const gives = (types: readonly string[], schema: unknown) => ({
    responses: { 200: { description: 'x', content: content(types, schema) } },
  });
  const xml = 'application/xml';
  const both = ['application/json', xml];
  const paths = {
    '/only': { get: gives([xml], thing) },
    '/both': { post: { ...takes(both, thing), ...gives(both, thing) } },
    '/text': {
      post: { ...takes([xml], { type: 'string', format: 'binary' }), ...gives([xml], { type: 'string', example: '<a/>' }) },
    },
  };
  const source = JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths });
  const service = await serve(parseDocument(source, 'things.json'), { sample: true });
  const asked = async (method: string, path: string, accept: string, type?: string, body?: string) => {
    const headers = { accept, ...(type !== undefined && { 'content-type': type }) };
    const init = { method, headers, ...(body !== undefined && { body }) };
    const response = await service.fetch(new Request(`http://127.0.0.1${path}`, init));
    const [written] = (response.headers.get('content-type') ?? '').split(';');
    return [
      response.status,
      written,
      /the answer is JSON, not application\/xml/.test(response.headers.get('ninefold-warning') ?? ''),
    ];
  };
  assert.deepEqual(await asked('GET', '/only', '*/*'), [200, xml, false]);
  assert.deepEqual(await asked('GET', '/only', 'application/json'), [200, 'application/json', true]);
  assert.deepEqual(await asked('POST', '/both', xml, 'application/json', '{"name":"a"}'), [200, xml, false]);
  assert.deepEqual(await asked('POST', '/both', '*/*', 'application/json', '{"name":"a"}'), [200, 'application/json', false]);
  assert.deepEqual(await asked('POST', '/both', '*/*', 'text/xml', '<thing><name>a</name></thing>'), [
    200,
    'application/json',
    false,
  ]);
  assert.deepEqual((await asked('POST', '/both', '*/*', xml, '<thing><other>a</other></thing>'))[0], 400);
  assert.deepEqual((await asked('POST', '/both', '*/*', xml, '<thing><name>a</thing>'))[0], 400);
  assert.deepEqual(await asked('POST', '/text', '*/*', xml, '<a/>'), [200, xml, false]);
  await service.close();
});
