import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { type Source, take } from './import/source.ts';

/** Interfaces as vendors write them: each source is served as a stand-in, and asked as its clients would. */

type Words = Readonly<Record<string, unknown>>;

const string = { type: 'string' };
const integer = { type: 'integer' };
const object = (properties: Words, required: readonly string[] = []): Words => ({ type: 'object', properties, required });
const list = (items: unknown): Words => ({ type: 'array', items });
const ref = (name: string): Words => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: unknown, more: Words = {}): Words => ({ content: { 'application/json': { schema, ...more } } });
const answers = (schema: unknown, more: Words = {}, status = '200'): Words => ({
  responses: { [status]: { description: 'ok', ...json(schema, more) } },
});
const sends = (schema: unknown): Words => ({ requestBody: json(schema) });
const within = (...names: string[]) => ({
  parameters: names.map((name) => ({ name, in: 'path', required: true, schema: string })),
});

interface Told {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member.
  readonly json: any;
}

type Ask = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Told>;

/** Serves a source and asks it. */
async function standIn(paths: Words, schemas: Words, body: (ask: Ask) => Promise<void>, more: Words = {}): Promise<void> {
  const source: Source = { paths, components: { schemas }, ...more };
  const failures: unknown[] = [];
  const service = await serve(take(source), { sample: true, onFailure: (failure) => failures.push(failure) });
  const ask: Ask = async (method, path, sent, headers = {}) => {
    const type = sent === undefined ? {} : { 'content-type': 'application/json' };
    const init = { method, headers: { ...type, ...headers }, ...(sent !== undefined && { body: JSON.stringify(sent) }) };
    const response = await service.fetch(new Request(`http://127.0.0.1${path}`, init));
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) };
  };
  try {
    await body(ask);
    assert.deepEqual(failures, []);
  } finally {
    await service.close();
  }
}

test('an answer of which nothing is known but its shape is the first example of its source, others by their name', async () => {
  const weather = object({ city: string, degrees: integer });
  const examples = { mild: { value: { city: 'Bern', degrees: 12 } }, hot: { value: { city: 'Rome', degrees: 31 } } };
  await standIn({ '/weather': { get: answers(weather, { examples }) } }, {}, async (ask) => {
    assert.deepEqual((await ask('GET', '/weather')).json, { city: 'Bern', degrees: 12 });
    assert.deepEqual((await ask('GET', '/weather', undefined, { prefer: 'example=hot' })).json.city, 'Rome');
    assert.deepEqual((await ask('GET', '/weather', undefined, { 'ninefold-example': 'hot' })).json.city, 'Rome');
    assert.deepEqual((await ask('GET', '/weather', undefined, { prefer: 'example=cold' })).json.city, 'Bern');
  });
});

test('without an example it has its optional members too, and an item in each list, but no further page', async () => {
  const report = object({ name: string, lines: list(object({ text: string })), next_cursor: string });
  await standIn({ '/report': { get: answers(report) } }, {}, async (ask) => {
    const { json: made, headers } = await ask('GET', '/report');
    assert.deepEqual(Object.keys(made), ['name', 'lines']);
    assert.deepEqual(Object.keys(made.lines[0]), ['text']);
    assert.equal(headers.get('ninefold-sampled'), 'name, lines');
  });
});

test('what was sent is answered where the shape has a place for it, in an envelope too, and nowhere else', async () => {
  const login = object({ user: object({ email: string, role: string, password: { ...string, writeOnly: true } }) });
  const paths = {
    '/login': { post: { ...sends(object({ email: string, password: string, device: string })), ...answers(login) } },
  };
  await standIn(paths, {}, async (ask) => {
    const { json: made } = await ask('POST', '/login', { email: 'a@b.c', password: 'secret', device: 'd1' });
    assert.equal(made.user.email, 'a@b.c');
    assert.doesNotMatch(JSON.stringify(made), /secret|d1/);
  });
});

const toy = object({ id: string, name: string, price: integer, created: string }, ['id']);

test('a new row is like the row of an example in what no client can send, and what was not sent is not there', async () => {
  const example = { id: 'toy_4f9a1c2b7d', name: 'Ball', price: 5, created: '2024-05-01' };
  const paths = {
    '/toys': { post: { ...sends(object({ name: string, price: integer })), ...answers(ref('Toy'), { example }, '201') } },
    '/toys/{toyId}': { ...within('toyId'), get: answers(ref('Toy')) },
  };
  await standIn(paths, { Toy: toy }, async (ask) => {
    const { json: made, headers } = await ask('POST', '/toys', { name: 'Kite' });
    assert.deepEqual({ ...made, id: undefined }, { id: undefined, name: 'Kite', created: '2024-05-01' });
    assert.match(made.id, /^toy_[0-9a-z]{10}$/);
    assert.equal(headers.get('ninefold-sampled'), 'created');
    assert.deepEqual((await ask('GET', `/toys/${made.id}`)).json, made);
  });
});

test('what no operation makes is there when it is asked for, as a parent too, until it is deleted', async () => {
  const paths = {
    '/shops/{shopId}': {
      ...within('shopId'),
      get: answers(ref('Shop')),
      delete: { responses: { '204': { description: 'gone' } } },
    },
    '/shops': { get: answers(list(ref('Shop'))) },
    '/shops/{shopId}/toys': {
      ...within('shopId'),
      post: { ...sends(object({ name: string })), ...answers(ref('Toy'), {}, '201') },
      get: answers(list(ref('Toy'))),
    },
    '/shops/{shopId}/toys/{toyId}': { ...within('shopId', 'toyId'), get: answers(ref('Toy')) },
  };
  const shop = object({ id: string, title: string }, ['id']);
  await standIn(paths, { Toy: toy, Shop: shop }, async (ask) => {
    assert.equal((await ask('GET', '/shops')).json.length, 3);
    assert.equal((await ask('POST', '/shops/s1/toys', { name: 'Kite' })).status, 201);
    assert.equal((await ask('GET', '/shops/s1/toys')).json.length, 1);
    assert.equal((await ask('GET', '/shops/s1')).json.id, 's1');
    assert.equal((await ask('GET', '/shops/s1/toys/none')).status, 404);
    assert.equal((await ask('DELETE', '/shops/s1')).status, 204);
    assert.equal((await ask('GET', '/shops/s1')).status, 404);
  });
});

test('rows that were stored under numbers of their own do not stand in the way of the next one', async () => {
  const ticket = object({ id: integer, title: string }, ['id']);
  const paths = {
    '/tickets': { post: { ...sends(object({ title: string })), ...answers(ref('Ticket'), {}, '201') } },
    '/tickets/{id}': { ...within('id'), get: answers(ref('Ticket')) },
    '/tickets/latest': { get: answers(ref('Ticket')) },
  };
  await standIn(paths, { Ticket: ticket }, async (ask) => {
    assert.equal((await ask('GET', '/tickets/latest')).json.id, 1);
    assert.deepEqual((await ask('POST', '/tickets', { title: 'x' })).json, { id: 2, title: 'x' });
  });
});

test('a row that stands in one member of what is sent is kept as it is sent, changed and replaced too', async () => {
  const board = object({ id: string, name: string, note: string }, ['id']);
  const enclosed = (inner: unknown) => object({ data: inner }, ['data']);
  const given = sends(enclosed(object({ name: string, note: string })));
  const shown = answers(enclosed(ref('Board')));
  const paths = {
    '/boards': { post: { ...given, ...shown } },
    '/boards/{boardId}': { ...within('boardId'), get: shown, patch: { ...given, ...shown }, put: { ...given, ...shown } },
  };
  await standIn(paths, { Board: board }, async (ask) => {
    const { json: made } = await ask('POST', '/boards', { data: { name: 'B', note: 'n' } });
    const { id } = made.data;
    assert.deepEqual(made, { data: { id, name: 'B', note: 'n' } });
    assert.deepEqual((await ask('PATCH', `/boards/${id}`, { data: { name: 'C' } })).json.data, { id, name: 'C', note: 'n' });
    assert.deepEqual((await ask('PUT', `/boards/${id}`, { data: { name: 'D' } })).json.data, { id, name: 'D' });
    assert.deepEqual((await ask('GET', `/boards/${id}`)).json, { data: { id, name: 'D' } });
    assert.equal((await ask('POST', '/boards', { name: 'B' })).status, 422);
  });
});

test('things that answers do not tell apart are known by their names in the path, or by what is sent', async () => {
  const info = object({ status: { enum: ['green', 'red'] }, size: integer }, ['status']);
  const done = answers(object({ result: { type: 'boolean' } }, ['result']));
  const any = answers({ type: 'object' });
  const paths = {
    '/indexes/{indexName}': {
      ...within('indexName'),
      get: answers(object({ result: ref('Info') })),
      put: { ...sends(object({ size: integer })), ...done },
      delete: done,
    },
    '/notes': { post: { ...sends(object({ text: string })), ...any } },
    '/notes/{noteId}': { ...within('noteId'), get: any, patch: { ...sends(object({ text: string })), ...any } },
  };
  await standIn(paths, { Info: info }, async (ask) => {
    assert.equal((await ask('GET', '/indexes/a')).status, 404);
    assert.deepEqual((await ask('PUT', '/indexes/a', { size: 4 })).json, { result: true });
    assert.deepEqual((await ask('GET', '/indexes/a')).json, { result: { status: 'green', size: 4 } });
    assert.equal((await ask('DELETE', '/indexes/a')).status, 200);
    assert.equal((await ask('GET', '/indexes/a')).status, 404);
    const { json: note } = await ask('POST', '/notes', { text: 'x' });
    assert.deepEqual((await ask('PATCH', `/notes/${note.id}`, { text: 'y' })).json, { id: note.id, text: 'y' });
    assert.equal((await ask('GET', '/notes/other')).status, 404);
  });
});

test('a list of errors says what is wrong', async () => {
  const errors = object({ errors: list(object({ message: string, code: string }, ['message', 'code'])) }, ['errors']);
  const paths = {
    '/toys': { post: { ...sends(object({ name: string })), ...answers(ref('Toy')) } },
    '/toys/{toyId}': {
      ...within('toyId'),
      get: { responses: { ...(answers(ref('Toy')).responses as Words), '404': { description: 'no', ...json(errors) } } },
    },
  };
  await standIn(paths, { Toy: toy }, async (ask) => {
    const { status, json: refused } = await ask('GET', '/toys/none');
    assert.equal(status, 404);
    assert.deepEqual(
      refused.errors.map(({ message }: { message: string }) => message),
      ['There is no such thing.'],
    );
  });
});

test('an answer comes as a stream of events or lines where the source states one and a request asks for it', async () => {
  const chunk = object({ data: object({ text: string }, ['text']) }, ['data']);
  const whole = object({ text: string }, ['text']);
  const content = { 'application/json': { schema: whole }, 'text/event-stream': { schema: chunk } };
  const paths = {
    '/chat': {
      post: { ...sends(object({ stream: { type: 'boolean' } })), responses: { '200': { description: 'ok', content } } },
    },
    '/log': { get: { responses: { '200': { description: 'ok', content: { 'application/x-ndjson': { schema: whole } } } } } },
  };
  const service = await serve(take({ paths }), { sample: true });
  const text = async (path: string, init: RequestInit) => {
    const response = await service.fetch(new Request(`http://127.0.0.1${path}`, init));
    return [response.headers.get('content-type'), await response.text()] as const;
  };
  try {
    const post = (body: unknown, accept: string) =>
      text('/chat', { method: 'POST', headers: { 'content-type': 'application/json', accept }, body: JSON.stringify(body) });
    const [type, events] = await post({ stream: true }, 'application/json');
    assert.deepEqual([type, events.split('\n\n').length], ['text/event-stream', 4]);
    assert.match(events, /^data: \{"text":"[^"]+"\}\n\n/);
    assert.equal((await post({}, 'text/event-stream'))[0], 'text/event-stream');
    assert.equal((await post({ stream: false }, '*/*'))[0], 'application/json');
    const [lines, log] = await text('/log', {});
    assert.deepEqual(
      [
        lines,
        log
          .trimEnd()
          .split('\n')
          .map((line) => Object.keys(JSON.parse(line))[0]),
      ],
      ['application/x-ndjson', ['text', 'text', 'text']],
    );
  } finally {
    await service.close();
  }
});

test('parameters inside a segment, acts after a colon and methods by POST alone are understood', async () => {
  const message = object({ sid: string, body: string }, ['sid']);
  const job = object({ id: string, status: { enum: ['queued', 'cancelled'] } }, ['id', 'status']);
  const named = sends(object({ toy_id: string, name: string }, ['toy_id']));
  const paths = {
    '/Messages.json': {
      post: { ...sends(object({ body: string })), ...answers(ref('Message'), {}, '201') },
      get: answers(object({ messages: list(ref('Message')) })),
    },
    '/Messages/{Sid}.json': { ...within('Sid'), get: answers(ref('Message')) },
    '/jobs': { post: answers(ref('Job')) },
    '/jobs/{id}': { ...within('id'), get: answers(ref('Job')) },
    '/jobs/{id}:cancel': { ...within('id'), post: answers(ref('Job')) },
    '/toys/create': { post: { ...sends(object({ name: string })), ...answers(object({ toy: ref('Toy') })) } },
    '/toys/get': { post: { ...named, ...answers(object({ toy: ref('Toy') })) } },
    '/toys/update': { post: { ...named, ...answers(object({ toy: ref('Toy') })) } },
  };
  await standIn(paths, { Message: message, Job: job, Toy: toy }, async (ask) => {
    const { json: sent } = await ask('POST', '/Messages.json', { body: 'hi' });
    assert.deepEqual((await ask('GET', `/Messages/${sent.sid}.json`)).json, sent);
    assert.deepEqual((await ask('GET', '/Messages.json')).json.messages, [sent]);
    const { json: made } = await ask('POST', '/jobs');
    assert.equal(made.status, 'queued');
    assert.equal((await ask('POST', `/jobs/${made.id}:cancel`)).json.status, 'cancelled');
    assert.equal((await ask('GET', `/jobs/${made.id}`)).json.status, 'cancelled');
    const { toy: ball } = (await ask('POST', '/toys/create', { name: 'Ball' })).json;
    assert.equal((await ask('POST', '/toys/update', { toy_id: ball.id, name: 'Kite' })).json.toy.name, 'Kite');
    assert.equal((await ask('POST', '/toys/get', { toy_id: ball.id })).json.toy.name, 'Kite');
  });
});

test('pages are told by a stated Link, and what is called like a field filters only where it can', async () => {
  const ticket = object({ number: integer, state: string, title: string }, ['number', 'state']);
  const query = (name: string, schema: Words): Words => ({ name, in: 'query', schema });
  const parameters = [
    query('state', { ...string, enum: ['open', 'closed', 'all'] }),
    query('page', integer),
    query('per_page', integer),
  ];
  const headers = { Link: { schema: string } };
  const paths = {
    '/tickets': {
      post: { ...sends(object({ title: string })), ...answers(ref('Ticket'), {}, '201') },
      get: { parameters, responses: { '200': { description: 'ok', headers, ...json(list(ref('Ticket'))) } } },
    },
    '/tickets/{number}': {
      parameters: [{ name: 'number', in: 'path', required: true, schema: integer }],
      get: answers(ref('Ticket')),
    },
  };
  await standIn(paths, { Ticket: ticket }, async (ask) => {
    for (const title of ['a', 'b', 'c']) await ask('POST', '/tickets', { title });
    const titles = ({ json: rows }: Told) => rows.map(({ title }: { title: string }) => title);
    const first = await ask('GET', '/tickets?per_page=2&state=all');
    assert.deepEqual(titles(first), ['a', 'b']);
    const next = /<(?:http:\/\/[^/]+)?([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const last = await ask('GET', next);
    assert.deepEqual(titles(last), ['c']);
    assert.doesNotMatch(last.headers.get('link') ?? '', /rel="next"/);
  });
});

test('a row is found by the name that people call it by', async () => {
  const team = object({ id: string, slug: string }, ['id']);
  const paths = {
    '/teams': { post: { ...sends(object({ slug: string })), ...answers(ref('Team'), {}, '201') } },
    '/teams/{teamId}': { ...within('teamId'), get: answers(ref('Team')) },
  };
  await standIn(paths, { Team: team }, async (ask) => {
    const { json: made } = await ask('POST', '/teams', { slug: 'red' });
    assert.deepEqual((await ask('GET', '/teams/red')).json, made);
    assert.equal((await ask('GET', '/teams/blue')).status, 404);
  });
});
