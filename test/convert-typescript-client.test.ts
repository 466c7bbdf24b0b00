import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { toTypescript } from '../src/convert/typescript.ts';
import { type Document, parseDocument, readDocument, type ServeOptions, serve } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';

/** What a client answers, as far as these tests look. */
interface Told {
  readonly ok: boolean;
  readonly status: number;
  readonly data?: unknown;
  readonly code?: string | undefined;
  readonly error?: unknown;
  readonly headers: Headers;
}
type AnyClient = Readonly<Record<string, (input?: object) => Promise<Told>>>;

const folder = mkdtempSync(join(tmpdir(), 'ninefold-client-'));
const closing: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true });
});

let modules = 0;

/** The client that a document is exported as; its types are held by the compiler elsewhere. */
async function clientOf(document: Document, options: object): Promise<AnyClient> {
  const path = join(folder, `client-${modules++}.ts`);
  writeFileSync(path, toTypescript(readSpec(document)));
  const { createClient } = await import(pathToFileURL(path).href);
  return createClient(options);
}

async function listening(document: Document, options: ServeOptions = {}) {
  const service = await serve(document, options);
  const server = await service.listen({ port: 0 });
  closing.push(() => server.close().then(() => service.close()));
  return { service, baseUrl: server.url + service.basePath };
}

const parcels = await readDocument(join(import.meta.dirname, '../examples/parcels.md'));
const to = { name: 'Ada', street: 'Kade 1', city: 'Delft', country: 'NL' };

test('the client of parcels books one, follows it, pages through them, and tells refusals by their codes', async () => {
  const quote = ({ params }: { params: Record<string, unknown> }) => ({ price: 400, service: params.service });
  const { service, baseUrl } = await listening(parcels, { development: true, handlers: { quote } });
  const key = service.credentials.find(({ user }) => user === 'merchant')?.value ?? '';
  const client = await clientOf(parcels, { baseUrl, credential: () => Promise.resolve({ key }) });
  const call = async (name: string, input?: object): Promise<Told> => {
    const told = await client[name]?.(input);
    assert.ok(told, `no ${name}`);
    return told;
  };

  const made = await call('createParcel', { body: { to, weight_g: 1200 }, idempotencyKey: 'one' });
  assert.deepEqual([made.ok, made.status], [true, 201]);
  const parcel = made.data as { id: string; status: string };
  const again = await call('createParcel', { body: { to, weight_g: 1200 }, idempotencyKey: 'one' });
  assert.deepEqual([again.data, again.headers.get('Idempotency-Replayed')], [parcel, 'true']);
  const reused = await call('createParcel', { body: { to, weight_g: 1 }, idempotencyKey: 'one' });
  assert.deepEqual([reused.ok, reused.status, reused.code], [false, 422, 'key_reused']);

  const params = { id: parcel.id };
  const read = await call('readParcel', { params });
  assert.equal(read.headers.get('Parcels-Version'), '2026-06-01');
  const stale = await call('updateParcel', { params, body: { weight_g: 2 }, ifMatch: '"other"' });
  assert.deepEqual([stale.status, stale.code], [412, 'stale']);
  const changed = await call('updateParcel', {
    params,
    body: { weight_g: 20000, service: 'express' },
    ifMatch: read.headers.get('ETag'),
  });
  assert.ok(changed.ok);
  const heavy = await call('buyParcel', { params });
  assert.deepEqual([heavy.code, (heavy.error as { detail: string }).detail], ['too_heavy', 'Express takes up to 10 kg.']);
  const invalid = await call('createParcel', { body: { to, weight_g: 0 } });
  assert.deepEqual(
    [invalid.code, (invalid.error as { violations: { path: string }[] }).violations.map(({ path }) => path)],
    ['invalid', ['/weight_g']],
  );

  for (const reference of ['a', 'b & c']) await call('createParcel', { body: { to, weight_g: 5, reference } });
  const first = await call('listParcel', { params: { min_weight: 5, limit: 2, status: 'draft', sort: 'created_at' } });
  const page = first.data as { data: { id: string }[]; next_cursor: string };
  assert.equal(page.data[0]?.id, parcel.id);
  const second = await call('listParcel', {
    params: { min_weight: 5, limit: 2, status: 'draft', sort: 'created_at', cursor: page.next_cursor },
  });
  assert.deepEqual((second.data as typeof page).data.length, 1);
  assert.deepEqual((await call('listParcel')).ok, true);
  assert.deepEqual((await call('listParcel', { params: { limit: 1000 } })).code, 'bad_page');

  assert.deepEqual((await call('quote', { params: { weight_g: 5, service: 'express' } })).data, {
    price: 400,
    service: 'express',
  });
  const deleted = await call('deleteParcel', { params });
  assert.deepEqual([deleted.ok, deleted.status, deleted.data], [true, 204, undefined]);
  assert.deepEqual((await call('readParcel', { params })).code, 'not_found');

  const nobody = await clientOf(parcels, { baseUrl });
  assert.equal((await nobody.listParcel?.())?.code, 'unknown_caller');
  const older = await clientOf(parcels, { baseUrl, credential: { key }, version: '2026-01-15' });
  const old = (await older.listParcel?.())?.data as { data: Record<string, unknown>[] };
  assert.ok(old.data.every((row) => row.weight !== undefined && row.weight_g === undefined));
});

test('an answer that the document does not state is no code of its own', async () => {
  const answer = (status: number, body: string, type: string) => async () =>
    new Response(body, { status, headers: { 'Content-Type': type } });
  const asked = async (fetch: unknown) => (await clientOf(parcels, { baseUrl: 'http://a.example', fetch })).listParcel?.();
  const gateway = await asked(answer(502, '<p>Bad gateway</p>', 'text/html'));
  assert.deepEqual([gateway?.ok, gateway?.status, gateway?.code, gateway?.error], [false, 502, undefined, '<p>Bad gateway</p>']);
  const unknown = await asked(answer(418, '{"code":"teapot"}', 'application/problem+json'));
  assert.deepEqual([unknown?.ok, unknown?.code, unknown?.error], [false, undefined, { code: 'teapot' }]);
});

/** Styles, media types and credentials, as what is sent says: a service that answers what it was given. */
const echo = parseDocument(
  `
title: Echo
purpose: { base_url: https://echo.example/v1, users: { tester: T } }
authentication:
  schemes:
    pair: { type: basic }
    token: { type: jwt, header: Authorization, prefix: Token }
    crumb: { type: api_key, cookie: crumb }
    word: { type: api_key, query: word }
  permissions: none
endpoints:
  GET /form: { does: handler form, parameters: { a: { in: query, type: array, items: string }, o: { in: query, type: object } } }
  GET /flat: { does: handler flat, parameters: { a: { in: query, type: array, items: string, style: pipeDelimited, explode: false }, s: { in: query, type: array, items: string, style: spaceDelimited, explode: false } } }
  GET /deep: { does: handler deep, parameters: { w: { in: query, type: object, style: deepObject }, "x[gte]": { in: query, type: integer } } }
  GET /in/{id}/{list}: { does: handler inside, parameters: { list: { in: path, type: array, items: string }, H: { in: header, type: string }, c: { in: cookie, type: string } } }
  GET /dots/{v}: { does: handler dots, parameters: { v: { in: path, type: array, items: string, style: label, explode: true } } }
  GET /fixed?kind=a: { does: handler fixed, parameters: { q: { in: query, type: string } } }
  POST /json: { does: handler json, request: { type: object } }
  POST /web: { does: handler web, consumes: application/x-www-form-urlencoded, request: { type: object } }
  POST /text: { does: handler text, consumes: text/plain, request: string }
  POST /bytes: { does: handler bytes, consumes: application/octet-stream, request: { type: string, format: binary } }
  POST /parts: { does: handler parts, consumes: multipart/form-data, request: { type: object } }
versioning: { versions: { "3": { current: true } }, select: { path: "/api-{version}", default: current } }
`,
  'echo.yaml',
);

interface Sent {
  readonly call: string;
  readonly input?: object;
  readonly options?: object;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const sent: readonly Sent[] = [
  { call: 'form', input: { params: { a: ['1', 'b c'], o: { k: 'v', l: '&' } } }, url: '/form?a=1&a=b%20c&k=v&l=%26' },
  { call: 'form', input: { params: { a: undefined } }, url: '/form' },
  { call: 'flat', input: { params: { a: ['1', '2'], s: ['x', 'y z'] } }, url: '/flat?a=1%7C2&s=x%20y%20z' },
  { call: 'deep', input: { params: { w: { from: 1, to: 'z' }, 'x[gte]': 3 } }, url: '/deep?w[from]=1&w[to]=z&x%5Bgte%5D=3' },
  {
    call: 'inside',
    input: { params: { id: 'a/b', list: ['c', 'd'], H: 'h', c: 'é' } },
    url: '/in/a%2Fb/c,d',
    headers: { h: 'h', cookie: 'c=%C3%A9' },
  },
  { call: 'dots', input: { params: { v: ['a', 'b'] } }, url: '/dots/.a.b' },
  { call: 'fixed', input: { params: { q: '1' } }, url: '/fixed?kind=a&q=1' },
  {
    call: 'json',
    input: { body: { n: 2n ** 60n, u: undefined } },
    headers: { 'content-type': 'application/json' },
    body: '{"n":1152921504606846976}',
  },
  {
    call: 'web',
    input: { body: { a: 1, o: { k: ['x', 'y'] }, none: null } },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'a=1&o%5Bk%5D%5B0%5D=x&o%5Bk%5D%5B1%5D=y',
  },
  { call: 'text', input: { body: 'plain' }, headers: { 'content-type': 'text/plain' }, body: 'plain' },
  {
    call: 'bytes',
    input: { body: new TextEncoder().encode('raw') },
    headers: { 'content-type': 'application/octet-stream' },
    body: 'raw',
  },
  { call: 'parts', input: { body: { a: 1, file: new TextEncoder().encode('raw'), l: ['x'] } }, body: 'a=1&file=raw&l[0]=x' },
  { call: 'form', options: { credential: { pair: { name: 'ä', password: 'p' } } }, headers: { authorization: 'Basic w6Q6cA==' } },
  { call: 'form', options: { credential: { token: 't' } }, headers: { authorization: 'Token t' } },
  { call: 'form', options: { credential: { crumb: 'c' } }, headers: { cookie: 'crumb=c' } },
  { call: 'form', options: { credential: { word: 'w' } }, url: '/form?word=w' },
  { call: 'form', options: { version: '2' }, url: 'https://echo.example/v1/api-2/form' },
  {
    call: 'form',
    input: { headers: { 'X-A': 'call' } },
    options: { headers: { 'X-A': 'all', 'X-B': 'all' } },
    headers: { 'x-a': 'call', 'x-b': 'all' },
  },
];

for (const [index, { call, input, options = {}, url, headers = {}, body }] of sent.entries()) {
  test(`a call is sent as its operation says (${index + 1}: ${call})`, async () => {
    let request: { url: string; headers: Headers; body: unknown } | undefined;
    const fetch = async (address: string, init: { headers: Headers; body?: unknown }) => {
      request = { url: address, headers: init.headers, body: init.body };
      return new Response(null, { status: 204 });
    };
    await (await clientOf(echo, { fetch, ...options }))[call]?.(input);
    assert.ok(request);
    const base = 'https://echo.example/v1/api-3';
    if (url !== undefined) assert.equal(request.url, url.startsWith('https') ? url : base + url);
    for (const [name, value] of Object.entries(headers)) assert.equal(request.headers.get(name), value, name);
    if (body !== undefined) assert.equal(await textOf(request.body), body);
  });
}

async function textOf(body: unknown): Promise<unknown> {
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  if (!(body instanceof FormData)) return body;
  const parts = await Promise.all(
    [...body].map(async ([name, part]) => `${name}=${typeof part === 'string' ? part : await part.text()}`),
  );
  return parts.join('&');
}
