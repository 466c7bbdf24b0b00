import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { type Source, take } from './import/source.ts';
import {
  answers,
  integer,
  json,
  list,
  object,
  ref,
  sends,
  standIn,
  string,
  type Told,
  type Words,
  within,
} from './import/stand-in.ts';

/** Interfaces as vendors write them: each source is served as a stand-in, and asked as its clients would. */

test('an answer of which nothing is known but its shape is the first example of its source, others by their name', async () => {
  const weather = object({ city: string, degrees: integer });
  const examples = { mild: { value: { city: 'Bern', degrees: 12 } }, hot: { value: { city: 'Rome', degrees: 31 } } };
  await standIn({ '/weather': { get: answers(weather, { examples }) } }, {}, async (ask) => {
    assert.deepEqual((await ask('GET', '/weather')).json, { city: 'Bern', degrees: 12 });
    assert.deepEqual((await ask('GET', '/weather', undefined, { prefer: 'example=hot' })).json.city, 'Rome');
    assert.deepEqual((await ask('GET', '/weather', undefined, { 'ninefold-example': 'hot' })).json.city, 'Rome');
    const cold = await ask('GET', '/weather', undefined, { prefer: 'example=cold' });
    assert.equal(cold.json.city, 'Bern');
    assert.match(cold.headers.get('ninefold-warning') ?? '', /example "cold" is not stated; there are mild, hot/);
    assert.equal((await ask('GET', '/weather', undefined, { prefer: 'example=hot' })).headers.get('ninefold-warning'), null);
  });
});

test('an answer of any type is sent as JSON, and of several in the one that is asked for, as far as it can be written so', async () => {
  const thing = object({ id: string, name: string }, ['id']);
  const inAny = (...types: string[]): Words => ({
    responses: { 200: { description: 'x', content: Object.fromEntries(types.map((type) => [type, { schema: thing }])) } },
  });
  const source = {
    '/any': { get: inAny('*/*') },
    '/some': { get: inAny('text/plain', 'application/json', 'application/vnd.thing+json') },
    '/gone/{id}': {
      delete: { ...within('id'), ...answers({ type: 'boolean' }) },
      get: { ...within('id'), ...answers({ type: 'boolean' }) },
    },
  };
  await standIn(source, {}, async (ask) => {
    const typeOf = async (path: string, accept?: string) =>
      (await ask('GET', path, undefined, accept === undefined ? {} : { accept })).headers.get('content-type');
    assert.equal(await typeOf('/any'), 'application/json');
    assert.equal(await typeOf('/any', 'text/csv'), 'application/json');
    assert.equal(await typeOf('/some'), 'application/json');
    assert.equal(await typeOf('/some', 'application/vnd.thing+json'), 'application/vnd.thing+json');
    assert.equal(await typeOf('/some', 'text/plain'), 'application/json');
    assert.equal((await ask('DELETE', '/gone/a')).json, true);
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

test('a map that was sent is answered whole, and an envelope with nothing in it is answered with nothing in it', async () => {
  const free = { type: 'object' };
  const map = { ...free, additionalProperties: string };
  const hoist = object({ data: object({ boat: string, crew: map }) });
  const paths = {
    '/hoists/start': { post: { ...sends(hoist), ...answers(object({ data: free })) } },
    '/hoists/check': { post: { ...sends(hoist), ...answers(object({ data: object({ crew: map, lines: integer }) })) } },
    '/hoists/plan': {
      post: { ...sends(object({ notes: free, crew: map })), ...answers(object({ notes: free, crew: map, lines: integer })) },
    },
  };
  await standIn(paths, {}, async (ask) => {
    const data = { boat: 'b1', crew: { mate: 'Ann' } };
    assert.deepEqual((await ask('POST', '/hoists/start', { data })).json, { data: {} });
    assert.deepEqual((await ask('POST', '/hoists/check', { data })).json.data.crew, { mate: 'Ann' });
    const { json: plan } = await ask('POST', '/hoists/plan', { notes: { tide: 'low' }, crew: { cook: 'Bo' } });
    assert.deepEqual([plan.notes, plan.crew], [{ tide: 'low' }, { cook: 'Bo' }]);
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
    // When it was made is said in the form of the example.
    const [today, yesterday] = [0, 86_400_000].map((ms) => new Date(Date.now() - ms).toISOString().slice(0, 10));
    assert.ok([today, yesterday].includes(made.created), made.created);
    assert.deepEqual({ ...made, id: undefined, created: undefined }, { id: undefined, name: 'Kite', created: undefined });
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
    assert.equal((await ask('POST', '/shops/s1/toys', { name: 'Kite' })).status, 201);
    assert.equal((await ask('GET', '/shops/s1/toys')).json.length, 1);
    assert.equal((await ask('GET', '/shops/s1')).json.id, 's1');
    assert.equal((await ask('GET', '/shops/s1/toys/none')).status, 404);
    assert.equal((await ask('DELETE', '/shops/s1')).status, 204);
    assert.equal((await ask('GET', '/shops/s1')).status, 404);
    assert.equal((await ask('GET', '/shops')).json.length, 3);
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
    assert.equal((await ask('POST', '/boards', { name: 'B' })).status, 400);
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

test('a change takes what its body has a place for though answers call it read-only, and rows are listed in another shape', async () => {
  const link = object({ id: string, archived: { type: 'boolean', readOnly: true }, status: { enum: ['open', 'canceled'] } }, [
    'id',
    'status',
  ]);
  const listed = object({ id: string, status: string });
  const change = sends(object({ archived: { type: 'boolean' }, status: string }));
  const paths = {
    '/links': {
      post: answers(ref('Link'), {}, '201'),
      get: answers(object({ _embedded: object({ links: list(ref('ListedLink')) }) })),
    },
    '/links/{linkId}': {
      ...within('linkId'),
      get: answers(ref('Link')),
      patch: { ...change, ...answers(ref('Link')) },
      delete: { operationId: 'cancel-link', ...answers(ref('Link')) },
    },
  };
  await standIn(paths, { Link: link, ListedLink: listed }, async (ask) => {
    const { json: made } = await ask('POST', '/links');
    assert.equal((await ask('PATCH', `/links/${made.id}`, { archived: true })).json.archived, true);
    assert.equal((await ask('DELETE', `/links/${made.id}`)).json.status, 'canceled');
    assert.deepEqual((await ask('GET', `/links/${made.id}`)).json, { id: made.id, archived: true, status: 'canceled' });
    assert.deepEqual(
      (await ask('GET', '/links')).json._embedded.links.map(({ id }: { id: string }) => id),
      [made.id],
    );
  });
});

test('the next page is told in the map that the answer has for it, by an address or by what the parameter takes', async () => {
  const row = object({ id: string, name: string });
  const pageOf = (name: string, more: Words) => answers(object({ data: list(ref(name)), ...more }));
  const query = (...names: string[]) => names.map((name) => ({ name, in: 'query', schema: name === 'limit' ? integer : string }));
  const kind = (path: string, asked: readonly Words[], more: Words): Words => ({
    [`/${path}`]: { post: { ...sends(ref(path)), ...answers(ref(path)) }, get: { parameters: asked, ...pageOf(path, more) } },
    [`/${path}/{id}`]: { ...within('id'), get: answers(ref(path)) },
  });
  const address = { type: 'string', format: 'uri' };
  const link = { type: ['object', 'null'], properties: { href: string } };
  const paths = {
    ...kind('a', query('page[cursor]', 'limit'), { links: object({ self: string, next: address }, ['self']) }),
    ...kind('b', query('continue', 'limit'), { metadata: object({ continue: string }) }),
    ...kind('c', query('from', 'limit'), { _links: object({ next: link }, ['next']) }),
  };
  await standIn(paths, { a: row, b: row, c: row }, async (ask) => {
    for (const path of ['/a', '/b', '/c']) for (const name of ['x', 'y', 'z']) await ask('POST', path, { name });
    const names = (told: Told): string[] => told.json.data.map((one: { name: string }) => one.name);
    const first = await ask('GET', '/a?limit=2');
    const next = new URL(first.json.links.next);
    const last = await ask('GET', `${next.pathname}${next.search}`);
    assert.deepEqual([...names(first), ...names(last)], ['x', 'y', 'z']);
    assert.equal(last.json.links.next, undefined);

    const { json: page } = await ask('GET', '/b?limit=2');
    assert.deepEqual(names(await ask('GET', `/b?limit=2&continue=${encodeURIComponent(page.metadata.continue)}`)), ['z']);

    const [, second] = (await ask('GET', '/c')).json.data;
    assert.deepEqual(names(await ask('GET', `/c?from=${second.id}`)), ['y', 'z']);
    const beginning = await ask('GET', '/c?limit=1');
    assert.equal(new URL(beginning.json._links.next.href).searchParams.get('from'), second.id);
    assert.equal((await ask('GET', '/c')).json._links.next, null);
  });
});

test('the rows of a list may stand in a map of their own, and its counts count', async () => {
  const paths = {
    '/toys': {
      post: { ...sends(ref('Toy')), ...answers(ref('Toy')) },
      get: {
        parameters: [
          { name: 'page', in: 'query', schema: integer },
          { name: 'per_page', in: 'query', schema: integer },
        ],
        ...answers(
          object({
            _embedded: object({ toys: list(ref('Toy')) }),
            meta: object({ page: integer, total_pages: integer, total: integer }),
          }),
        ),
      },
    },
    '/toys/{id}': { ...within('id'), get: answers(ref('Toy')) },
  };
  await standIn(paths, { Toy: object({ id: string, name: string }) }, async (ask) => {
    for (const name of ['x', 'y', 'z']) await ask('POST', '/toys', { name });
    const { json: page } = await ask('GET', '/toys?page=2&per_page=2');
    assert.deepEqual(
      page._embedded.toys.map((one: { name: string }) => one.name),
      ['z'],
    );
    assert.deepEqual(page.meta, { page: 2, total_pages: 2, total: 3 });
  });
});

test('a row in an envelope is known by its fields, whatever its shape is called and whatever stands beside it', async () => {
  const item = (name: Words) =>
    object({ type: { const: 'list' }, id: string, attributes: object({ name }), links: object({ self: string }) });
  const paths = {
    '/lists': {
      post: {
        ...sends(object({ data: object({ type: { const: 'list' }, attributes: object({ name: string }) }) })),
        ...answers(object({ data: item(string), links: object({ self: string }) }), {}, '201'),
      },
    },
    '/lists/{id}': { ...within('id'), get: answers(object({ data: item({ type: ['string', 'null'] }) })) },
  };
  await standIn(paths, {}, async (ask) => {
    const { status, json: made } = await ask('POST', '/lists', { data: { type: 'list', attributes: { name: 'News' } } });
    assert.deepEqual([status, made.data.attributes], [201, { name: 'News' }]);
    assert.equal((await ask('GET', `/lists/${made.data.id}`)).json.data.attributes.name, 'News');
  });
});

test('an act that answers with its thing makes no other, and a relation that answers with its owner makes none at all', async () => {
  const deploy = object({ id: string, title: string, note: string });
  const paths = {
    '/deploys': { post: { ...sends(ref('Deploy')), ...answers(ref('Deploy')) }, get: answers(list(ref('Deploy'))) },
    '/deploys/{id}': { ...within('id'), get: answers(ref('Deploy')) },
    '/deploys/{id}/cancel': { ...within('id'), post: answers(ref('Deploy'), {}, '201') },
    '/deploys/{deploy}/copy': { ...within('deploy'), post: answers(ref('Deploy'), {}, '201') },
    '/deploys/{id}/watchers': { ...within('id'), post: { ...sends(object({ user: string })), ...answers(ref('Deploy')) } },
    '/deploys/{id}/watchers/{user}': { ...within('id', 'user'), delete: answers(ref('Deploy')) },
  };
  await standIn(paths, { Deploy: deploy }, async (ask) => {
    const { id } = (await ask('POST', '/deploys', { title: 'one' })).json;
    const count = async () => (await ask('GET', '/deploys')).json.length;
    assert.equal((await ask('POST', `/deploys/${id}/cancel`)).json.id, id);
    await ask('POST', `/deploys/${id}/watchers`, { user: 'ada' });
    await ask('DELETE', `/deploys/${id}/watchers/ada`);
    assert.equal(await count(), 1);
    await ask('POST', `/deploys/${id}/copy`);
    assert.equal(await count(), 2);
  });
});

test('a null that may not be is as good as not sent, and a refusal says what is wrong in its message', async () => {
  const errors = { 400: { description: 'no', ...json(object({ message: string })) } };
  const paths = {
    '/people': {
      post: {
        ...sends(object({ name: string, nick: string }, ['name'])),
        responses: { ...(answers(ref('Person')).responses as Words), ...errors },
      },
      get: answers(list(ref('Person'))),
    },
    '/people/{id}': { ...within('id'), get: answers(ref('Person')) },
  };
  await standIn(paths, { Person: object({ id: string, name: string, nick: string }) }, async (ask) => {
    const { status, json: made, headers } = await ask('POST', '/people', { name: 'Ada', nick: null });
    assert.deepEqual([status, made.name, made.nick], [200, 'Ada', undefined]);
    assert.match(headers.get('ninefold-warning') ?? '', /nick is null/);
    const refused = await ask('POST', '/people', { name: null, nick: 'a' });
    assert.equal(refused.status, 400);
    assert.equal(refused.json.message, 'The body does not have the right shape: name is nothing, and should be a string.');
  });
});

test('a name in a path that cannot be one of its things names none, and identifiers fit the paths that name them', async () => {
  const id = [{ name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^[A-Z]{6}$' } }];
  const paths = {
    '/orders': { post: { ...sends(object({ note: string })), ...answers(ref('Order')) } },
    '/orders/{id}': { parameters: id, get: answers(ref('Order')) },
  };
  await standIn(
    paths,
    { Order: object({ id: string, note: string, status: { enum: ['CREATED', 'PAID'], pattern: '^[A-Z]+$' } }) },
    async (ask) => {
      const { json: made } = await ask('POST', '/orders', { note: 'x' });
      assert.match(made.id, /^[A-Z]{6}$/);
      assert.equal(made.status, 'CREATED');
      assert.equal((await ask('GET', `/orders/${made.id}`)).json.note, 'x');
      assert.equal((await ask('GET', '/orders/nobody')).status, 404);
    },
  );
});

test('a thing whose name stands in one of its maps is known by its path', async () => {
  const thing = object({ kind: string, metadata: object({ name: string, labels: object({}) }), data: object({}) });
  const whole = { ...sends(ref('Thing')), ...answers(ref('Thing')) };
  const paths = {
    '/rooms/{room}/things': { ...within('room'), post: whole, get: answers(object({ items: list(ref('Thing')) })) },
    '/rooms/{room}/things/{name}': {
      ...within('room', 'name'),
      get: answers(ref('Thing')),
      put: whole,
      delete: answers(object({})),
    },
  };
  await standIn(paths, { Thing: thing }, async (ask) => {
    const named = (name: string, value: string) => ({ kind: 'Thing', metadata: { name }, data: { value } });
    await ask('POST', '/rooms/a/things', named('twin', '1'));
    await ask('POST', '/rooms/b/things', named('twin', '2'));
    assert.equal((await ask('POST', '/rooms/a/things', named('twin', '3'))).status, 409);
    assert.deepEqual((await ask('GET', '/rooms/b/things/twin')).json, named('twin', '2'));
    assert.equal((await ask('GET', '/rooms/a/things')).json.items.length, 1);
    await ask('DELETE', '/rooms/a/things/twin');
    assert.equal((await ask('GET', '/rooms/a/things/twin')).status, 404);
    assert.equal((await ask('GET', '/rooms/b/things/twin')).status, 200);
  });
});

test('an act of which nothing is sent and nothing answered sets the flag that it is called like, and its deletion clears it', async () => {
  const empty = { responses: { 204: { description: 'done' } } };
  const paths = {
    '/todos': { post: { ...sends(object({ text: string })), ...answers(ref('Todo')) } },
    '/todos/{id}': { ...within('id'), get: answers(ref('Todo')) },
    '/todos/{id}/completion': { ...within('id'), post: empty, delete: empty },
    '/todos/{id}/print': { ...within('id'), post: empty },
  };
  await standIn(paths, { Todo: object({ id: string, text: string, completed: { type: 'boolean' } }) }, async (ask) => {
    const { id } = (await ask('POST', '/todos', { text: 'x' })).json;
    const isDone = async () => (await ask('GET', `/todos/${id}`)).json.completed;
    assert.equal((await ask('POST', `/todos/${id}/completion`)).status, 204);
    assert.equal(await isDone(), true);
    await ask('POST', `/todos/${id}/print`);
    assert.equal(await isDone(), true);
    await ask('DELETE', `/todos/${id}/completion`);
    assert.equal(await isDone(), false);
  });
});

test('pages are counted from nought where their parameter is, and asked for as an answer says where no parameter does', async () => {
  const pages = object({
    page: integer,
    per_page: integer,
    next: { type: ['object', 'null'], properties: { starting_after: string } },
  });
  const page = { name: 'page', in: 'query', schema: { type: 'integer', minimum: 0, default: 0 } };
  const size = { name: 'size', in: 'query', schema: integer };
  const one = { ...within('id'), get: answers(ref('Card')) };
  const paths = {
    '/cards': {
      post: { ...sends(object({ name: string })), ...answers(ref('Card')) },
      get: { parameters: [page, size], ...answers(list(ref('Card'))) },
    },
    '/cards/{id}': one,
    '/notes': {
      post: { ...sends(object({ text: string })), ...answers(ref('Note')) },
      get: answers(object({ data: list(ref('Note')), pages })),
    },
    '/notes/{id}': { ...within('id'), get: answers(ref('Note')) },
  };
  await standIn(
    paths,
    { Card: object({ id: string, name: string }), Note: object({ id: string, text: string }) },
    async (ask) => {
      for (const name of ['x', 'y', 'z']) await ask('POST', '/cards', { name });
      for (const text of ['x', 'y', 'z']) await ask('POST', '/notes', { text });
      const names = (rows: readonly { name: string }[]) => rows.map((row) => row.name);
      assert.deepEqual(names((await ask('GET', '/cards?page=0&size=2')).json), ['x', 'y']);
      assert.deepEqual(names((await ask('GET', '/cards?page=1&size=2')).json), ['z']);
      const { json: first } = await ask('GET', '/notes?per_page=2');
      assert.equal(first.data.length, 2);
      const { json: last } = await ask('GET', `/notes?per_page=2&starting_after=${first.pages.next.starting_after}`);
      assert.deepEqual([last.data.length, last.pages.next ?? null], [1, null]);
    },
  );
});

test('a thing in another shape is no envelope of a part of it that looks like a thing too', async () => {
  const made = object({
    id: string,
    name: string,
    url: string,
    note: string,
    company: object({ id: string, name: string, url: string }),
  });
  const paths = {
    '/projects': { post: { ...sends(object({ name: string, note: string })), ...answers(ref('Made'), {}, '201') } },
    '/projects/{id}': { ...within('id'), get: answers(ref('Project')) },
  };
  await standIn(paths, { Made: made, Project: made }, async (ask) => {
    const { json: answer } = await ask('POST', '/projects', { name: 'x', note: 'y' });
    assert.deepEqual([answer.name, answer.note, answer.company.note], ['x', 'y', undefined]);
  });
});

test('an answer may list the one row that was made, and an example of another type than its answer is none', async () => {
  const paths = {
    '/members': {
      post: { ...sends(object({ name: string })), ...answers(list(ref('Member'))) },
      get: answers(list(ref('Member'))),
    },
    '/members/{id}': { ...within('id'), get: answers(ref('Member')) },
    '/report': { get: answers(object({ total: integer }, ['total']), { examples: { odd: { value: [1, 2] } } }) },
  };
  await standIn(paths, { Member: object({ id: string, name: string }) }, async (ask) => {
    const { json: made } = await ask('POST', '/members', { name: 'Ada' });
    assert.equal((await ask('GET', `/members/${made[0].id}`)).json.name, 'Ada');
    assert.equal(typeof (await ask('GET', '/report')).json.total, 'number');
  });
});

test('what a stand-in gives out as a token it takes for one, and a credential is good for every scheme that looks the same', async () => {
  const bearer = { type: 'http', scheme: 'bearer' };
  const paths = {
    '/token': { post: { security: [], ...answers(object({ access_token: string }, ['access_token'])) } },
    '/me': { get: { security: [{ user: [] }], ...answers(object({ name: string }, ['name'])) } },
    '/all': { get: { security: [{ admin: [] }], ...answers(object({ name: string }, ['name'])) } },
  };
  const source: Source = { paths, components: { securitySchemes: { user: bearer, admin: bearer } } };
  const service = await serve(take(source), { sample: true, development: true });
  try {
    const ask = async (method: string, path: string, token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return service.fetch(new Request(`http://127.0.0.1${path}`, { method, headers }));
    };
    assert.equal((await ask('GET', '/me', 'somebody')).status, 401);
    const given = (await (await ask('POST', '/token')).json()) as { access_token: string };
    assert.equal((await ask('GET', '/me', given.access_token)).status, 200);
    const [printed] = service.credentials;
    const own = String(printed?.value).replace(/^Bearer /, '');
    assert.deepEqual([(await ask('GET', '/me', own)).status, (await ask('GET', '/all', own)).status], [200, 200]);
  } finally {
    await service.close();
  }
});

test('what is bound to a thing belongs to it, is seen from both ends, and is loosed again', async () => {
  const one = (name: string) => ({
    [`/${name}s`]: { post: { ...sends(object({ name: string })), ...answers(ref(name)) } },
    [`/${name}s/{id}`]: { ...within('id'), get: answers(ref(name)) },
  });
  const names = object({ data: list(object({ type: string, id: string }, ['type', 'id'])) });
  const done = { responses: { 204: { description: 'done' } } };
  const paths = {
    ...one('list'),
    ...one('person'),
    ...one('shop'),
    '/lists/{id}/relationships/persons': {
      ...within('id'),
      get: answers(names),
      post: { ...sends(names), ...done },
      delete: { ...sends(names), ...done },
    },
    '/lists/{id}/persons': { ...within('id'), get: answers(object({ data: list(object({ id: string, name: string })) })) },
    '/persons/{id}/relationships/lists': { ...within('id'), get: answers(names) },
    '/lists/{id}/shops': { ...within('id'), get: answers(object({ data: list(object({ id: string, name: string })) })) },
  };
  const row = object({ type: string, id: string, name: string });
  await standIn(paths, { list: row, person: row, shop: row }, async (ask) => {
    const { id } = (await ask('POST', '/lists', { name: 'News' })).json;
    const [ada, bob] = [
      (await ask('POST', '/persons', { name: 'Ada' })).json.id,
      (await ask('POST', '/persons', { name: 'Bob' })).json.id,
    ];
    const ids = async (path: string) => (await ask('GET', path)).json.data.map((one: { id: string }) => one.id);
    assert.deepEqual(await ids(`/lists/${id}/relationships/persons`), []);
    const data = [ada, bob].map((person) => ({ type: 'person', id: person }));
    assert.equal((await ask('POST', `/lists/${id}/relationships/persons`, { data })).status, 204);
    assert.deepEqual(await ids(`/lists/${id}/relationships/persons`), [ada, bob]);
    assert.deepEqual((await ask('GET', `/lists/${id}/persons`)).json.data[0], { id: ada, name: 'Ada' });
    assert.deepEqual(await ids(`/persons/${bob}/relationships/lists`), [id]);
    await ask('DELETE', `/lists/${id}/relationships/persons`, { data: data.slice(0, 1) });
    assert.deepEqual(await ids(`/lists/${id}/relationships/persons`), [bob]);
    // What nothing binds is there where it says whose it is: no shop does.
    assert.deepEqual(await ids(`/lists/${id}/shops`), []);
    await ask('POST', '/shops', { name: 'Corner' });
    assert.deepEqual(await ids(`/lists/${id}/shops`), []);
    const { json: own } = await ask('POST', '/shops', { name: id });
    assert.deepEqual(await ids(`/lists/${id}/shops`), [own.id]);
  });
});
