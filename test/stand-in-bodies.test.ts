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
