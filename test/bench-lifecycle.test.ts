import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askingOf } from '../bench/lifecycle/asking.ts';
import { describedBy } from '../bench/lifecycle/description.ts';
import { familiesOf } from '../bench/lifecycle/families.ts';
import type { Kept } from '../bench/lifecycle/law.ts';
import { lifeOf, live } from '../bench/lifecycle/life.ts';
import { askPaged } from '../bench/lifecycle/paged.ts';
import { type JsonMap, parseDocument, type Service, serve } from '../src/index.ts';

const thing = {
  type: 'object',
  required: ['id', 'title'],
  properties: { id: { type: 'string', readOnly: true }, title: { type: 'string' }, note: { type: 'string' } },
};
const answer = (schema: JsonMap) => ({ description: 'It.', content: { 'application/json': { schema } } });
const one = { $ref: '#/components/schemas/thing' };
const body = { required: true, content: { 'application/json': { schema: one } } };
const parameters = [{ name: 'thingId', in: 'path', required: true, schema: { type: 'string' } }];
const document: JsonMap = {
  openapi: '3.0.3',
  info: { title: 'Things', version: '1' },
  security: [{ key: [] }],
  paths: {
    '/things': {
      post: { requestBody: body, responses: { 201: answer(one) } },
      get: {
        responses: { 200: answer({ type: 'object', required: ['data'], properties: { data: { type: 'array', items: one } } }) },
      },
    },
    '/things/{thingId}': {
      parameters,
      get: { responses: { 200: answer(one), 404: { description: 'None.' } } },
      put: { requestBody: body, responses: { 200: answer(one) } },
      delete: { responses: { 204: { description: 'Gone.' } } },
    },
  },
  components: { schemas: { thing }, securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
};

/** The laws that a life finds, and those that it finds broken, where every request passes `between`. */
async function lived(
  between: (request: Request, on: Service['fetch']) => Promise<Response>,
  source: JsonMap = document,
): Promise<readonly Kept[]> {
  const service = await serve(parseDocument(JSON.stringify(source), 'things.json'), {
    sample: true,
    open: 'accept',
    development: true,
  });
  const described = describedBy(source);
  const families = familiesOf(described);
  const kept: Kept[] = [];
  const passed = { ...service, credentials: service.credentials, fetch: (request: Request) => between(request, service.fetch) };
  await live(families.get('/things')!, families, askingOf(passed, described, 100), kept);
  await service.close();
  return kept;
}

const brokenOf = (kept: readonly Kept[]): string[] => kept.filter(({ isHeld }) => !isHeld).map(({ law }) => law);

test('a stand-in of the plainest description keeps every law of lives', async () => {
  const kept = await lived((request, on) => on(request));
  assert.deepEqual(brokenOf(kept), []);
  assert.equal(new Set(kept.map(({ law }) => law)).size, 12);
});

test('a service that forgets, keeps what was deleted, or takes anything is found out', async () => {
  const deletes = await lived(async (request, on) =>
    request.method === 'DELETE' ? new Response(null, { status: 204 }) : on(request),
  );
  assert.deepEqual(brokenOf(deletes), ['gone']);
  const forgets = await lived(async (request, on) =>
    request.method === 'PUT' ? on(new Request(request.url, { headers: request.headers })) : on(request),
  );
  assert.deepEqual(brokenOf(forgets), ['changed']);
  const empty = await lived(async (request, on) =>
    request.method === 'GET' && request.url.endsWith('/things') ? Response.json({ data: [] }) : on(request),
  );
  assert.deepEqual(brokenOf(empty), ['listed', 'twice', 'gone']);
  const closed = await lived(async (request, on) => {
    const answered = await on(request);
    if (request.method !== 'GET' || !request.url.endsWith('/things')) return answered;
    const { data } = (await answered.json()) as { data: object[] };
    return Response.json({ data: data.map((row) => ({ ...row, status: 'closed' })) });
  });
  assert.deepEqual(brokenOf(closed), [], 'what another one says of itself is no deletion');
  const open = await lived(async (request, on) => {
    const answered = await on(request);
    return answered.status === 401 ? Response.json({ id: 'x', title: 'x' }, { status: 201 }) : answered;
  });
  assert.deepEqual(brokenOf(open), ['let in']);
});

const number = { type: 'integer' };
const query = (name: string) => ({ name, in: 'query', schema: number });
const listed: JsonMap = {
  ...document,
  paths: {
    ...(document.paths as JsonMap),
    '/things': {
      ...((document.paths as Record<string, JsonMap>)['/things'] as JsonMap),
      get: {
        parameters: [query('page'), query('per_page')],
        responses: { 200: answer({ type: 'object', properties: { data: { type: 'array', items: one }, total: number } }) },
      },
    },
  },
};

/** The laws of pages that are found broken where every answer passes `between`. */
async function pagesBroken(between: (answered: JsonMap, url: URL) => JsonMap): Promise<readonly string[]> {
  const source = parseDocument(JSON.stringify(listed), 'things.json');
  const service = await serve(source, { sample: true, open: 'accept', development: true });
  const described = describedBy(listed);
  const families = familiesOf(described);
  const kept: Kept[] = [];
  const fetch = async (request: Request) => {
    const answered = await service.fetch(request);
    if (request.method !== 'GET') return answered;
    return Response.json(between((await answered.json()) as JsonMap, new URL(request.url)));
  };
  const passed = { ...service, credentials: service.credentials, fetch };
  await askPaged(await lifeOf(families.get('/things')!, families, askingOf(passed, described, 100), kept));
  await service.close();
  assert.deepEqual([...new Set(kept.map(({ law }) => law))].slice(0, 2), ['cut', 'walked']);
  return brokenOf(kept);
}

test('a list is walked to its end, and one that counts wrongly, is not cut or never ends is found out', async () => {
  assert.deepEqual(await pagesBroken((whole) => whole), []);
  assert.deepEqual(await pagesBroken((whole) => ({ ...whole, total: 7 })), ['totals']);
  let first: JsonMap | undefined;
  const always = (whole: JsonMap, url: URL) => {
    if (!url.searchParams.has('per_page')) return whole;
    first ??= whole;
    return first;
  };
  assert.deepEqual(await pagesBroken(always), ['walked']);
  let all: JsonMap | undefined;
  const uncut = (whole: JsonMap, url: URL) => {
    all ??= whole;
    return url.searchParams.get('page') === null ? all : { ...all, data: [] };
  };
  assert.deepEqual(await pagesBroken(uncut), ['cut']);
});

test('a thing that says in an envelope what it is called says so too when it is changed', async () => {
  const named = { ...thing, properties: { ...thing.properties, id: { type: 'string' } } };
  const whole = (schema: JsonMap): JsonMap => ({ type: 'object', required: ['data'], properties: { data: schema } });
  const sent = { required: true, content: { 'application/json': { schema: whole(one) } } };
  const source: JsonMap = {
    ...document,
    paths: {
      '/things': { post: { requestBody: sent, responses: { 201: answer(whole(one)) } } },
      '/things/{thingId}': {
        parameters,
        get: { responses: { 200: answer(whole(one)), 404: { description: 'None.' } } },
        patch: { requestBody: sent, responses: { 200: answer(whole(one)) } },
      },
    },
    components: { ...(document.components as JsonMap), schemas: { thing: named } },
  };
  const names: unknown[] = [];
  const kept = await lived(async (request, on) => {
    if (request.method === 'PATCH') {
      const { data } = (await request.clone().json()) as { data: { id: string } };
      names.push([request.url.split('/').at(-1), data.id]);
    }
    return on(request);
  }, source);
  assert.deepEqual(brokenOf(kept), []);
  const [[path, body] = []] = names as [string, string][];
  assert.equal(body, path);
});
