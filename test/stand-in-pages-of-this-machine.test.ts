import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ServeOptions, serve } from '../src/index.ts';
import { take } from './import/source.ts';
import { answers, list, object, sends, string, type Words } from './import/stand-in.ts';

/** A front-end that is served from this machine calls a stand-in; no other page does, and none of it holds for services. */
const thing = object({ id: string, name: string }, ['id', 'name']);
const paths = {
  '/things': { get: answers(list(thing)), post: { ...sends(object({ name: string }, ['name'])), ...answers(thing, {}, '201') } },
};
const page = 'http://localhost:5173';

interface Asked {
  readonly options?: ServeOptions;
  readonly more?: Words;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function preflightAndPost(
  origin: string,
  { options = { sample: true }, more = {}, host = '127.0.0.1', headers = {} }: Asked = {},
) {
  const service = await serve(take({ paths, ...more }), options);
  try {
    const from = { host, origin, 'sec-fetch-site': 'cross-site' };
    const send = (init: RequestInit) => service.fetch(new Request(`http://${host}/things`, init));
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
    const preflight = await send({ method: 'OPTIONS', headers: { ...from, ...asked } });
    const body = JSON.stringify({ name: 'A' });
    const posted = await send({ method: 'POST', headers: { ...from, 'content-type': 'application/json', ...headers }, body });
    assert.equal(posted.headers.get('access-control-allow-credentials'), null);
    assert.equal(preflight.headers.get('access-control-allow-credentials'), null);
    return [
      posted.status,
      posted.headers.get('access-control-allow-origin'),
      preflight.headers.get('access-control-allow-origin'),
      preflight.headers.get('access-control-allow-headers'),
    ];
  } finally {
    await service.close();
  }
}

const shut = [403, null, null, null];

test('a page of this machine may call a stand-in, read it and write to it', async () => {
  for (const origin of [page, 'http://127.0.0.1:3000', 'http://[::1]:8080', 'https://localhost'])
    assert.deepEqual(await preflightAndPost(origin), [201, origin, origin, 'content-type'], origin);
});

test('no other page may, whatever its name is like, nor any by another name of the stand-in', async () => {
  for (const origin of [
    'https://evil.example',
    'http://localhost.evil.example',
    'http://evil-localhost:5173',
    'http://127.0.0.1.evil.example',
    'http://localhost:5173.evil.example',
    'http://192.168.0.7:5173',
    'null',
  ])
    assert.deepEqual(await preflightAndPost(origin), shut, origin);
  const [status, ...cors] = await preflightAndPost(page, { host: 'rebound.example' });
  assert.notEqual(status, 201);
  assert.deepEqual(cors, [null, null, null]);
});

test('a page of this machine may change nothing by a cookie, and its browser sends none along', async () => {
  const more = {
    components: { securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'session' } } },
    security: [{ session: [] }],
  };
  const options: ServeOptions = { sample: true, relax: 'auth' };
  const [status] = await preflightAndPost(page, { options, more, headers: { cookie: 'session=any' } });
  assert.equal(status, 403);
});

test('none of it holds for a service that is no stand-in, for one in production, or where the document says which pages may', async () => {
  const own = (origins: unknown) => ({
    title: 'Things',
    resources: { thing: { identifier: { field: 'id', generate: 'ulid' }, fields: { id: 'string', name: 'string' } } },
    endpoints: { 'POST /things': { does: 'create thing' } },
    authentication: { schemes: 'none', permissions: 'none', ...(origins !== undefined && { origins }) },
  });
  const posted = async (document: object, options: ServeOptions) => {
    const service = await serve(document as never, options);
    const headers = { origin: page, 'sec-fetch-site': 'same-site', 'content-type': 'application/json' };
    const answer = await service.fetch(new Request('http://127.0.0.1/things', { method: 'POST', headers, body: '{"name":"A"}' }));
    await service.close();
    return [answer.status, answer.headers.get('access-control-allow-origin')];
  };
  assert.deepEqual(await posted(own(undefined), { sample: true }), [201, page]);
  assert.deepEqual(await posted(own(undefined), {}), [403, null]);
  assert.deepEqual(await posted(own(undefined), { sample: true, production: true }), [403, null]);
  for (const origins of ['none', ['https://app.example']])
    assert.deepEqual(await posted(own(origins), { sample: true }), [403, null]);
});
