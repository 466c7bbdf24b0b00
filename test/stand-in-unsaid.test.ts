import assert from 'node:assert/strict';
import { test } from 'node:test';
import { part } from './import/source.ts';
import { answers, integer, json, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What vendors leave unsaid, and what is made of it. */

const map = { type: 'object' };

test('things of which nothing is said but that they are maps are kept as they are sent, below each parent', async () => {
  const paths = {
    '/items/{kind}': { ...within('kind'), get: answers(object({ data: list(map) })), post: { ...sends({}), ...answers(map) } },
    '/items/{kind}/{id}': {
      ...within('kind', 'id'),
      get: answers(object({ data: map })),
      patch: { ...sends(map), ...answers(object({ data: map })) },
      delete: { responses: { 204: { description: 'Gone.' } } },
    },
  };
  await standIn(paths, {}, async (ask) => {
    const { json: made } = await ask('POST', '/items/books', { title: 'A', tags: ['x'] });
    assert.deepEqual(made, { id: made.id, title: 'A', tags: ['x'] });
    const { json: changed } = await ask('PATCH', `/items/books/${made.id}`, { title: 'B', size: 3 });
    assert.deepEqual(changed, { data: { id: made.id, title: 'B', tags: ['x'], size: 3 } });
    assert.deepEqual((await ask('GET', `/items/books/${made.id}`)).json, changed);
    assert.deepEqual((await ask('GET', '/items/books')).json, { data: [changed.data] });
    assert.deepEqual((await ask('GET', '/items/shelves')).json, { data: [] });
    assert.equal((await ask('GET', `/items/shelves/${made.id}`)).status, 404);
    assert.equal((await ask('DELETE', `/items/books/${made.id}`)).status, 204);
    assert.equal((await ask('GET', `/items/books/${made.id}`)).status, 404);
  });
});

test('of an error in several forms the one of its status is told, and what is wrong with a request is 400 where nothing says 422', async () => {
  const form = (status: number, type: string) =>
    object({ status: { type: 'integer', enum: [status] }, type: { type: 'string', enum: [type] }, title: string }, [
      'status',
      'type',
      'title',
    ]);
  const error = {
    anyOf: [
      form(404, 'api_method_not_found'),
      form(404, 'thing_not_found'),
      form(409, 'conflict'),
      form(400, 'invalid_parameters'),
    ],
  };
  const responses = (schema: unknown) => ({
    responses: { 200: { description: 'ok', ...json(schema) }, default: { description: 'no', ...json(ref('error')) } },
  });
  const thing = object({ id: string, size: integer }, ['id']);
  const paths = {
    '/things': { post: { ...sends(object({ size: integer })), ...responses(ref('thing')) } },
    '/things/{id}': { ...within('id'), get: responses(ref('thing')) },
  };
  await standIn(paths, { thing, error }, async (ask) => {
    const { status, json: wrong } = await ask('POST', '/things', { size: 'x' });
    assert.deepEqual([status, wrong.status, wrong.type], [400, 400, 'invalid_parameters']);
    await ask('POST', '/things', { size: 1 });
    const { json: missing } = await ask('GET', '/things/none');
    assert.deepEqual([missing.status, missing.type], [404, 'thing_not_found']);
  });
});

test('an error that comes in no form but itself is told all the same', async () => {
  const error = { oneOf: [ref('error')], properties: { title: string } };
  const responses = (schema: unknown) => ({
    responses: { 200: { description: 'ok', ...json(schema) }, default: { description: 'no', ...json(ref('error')) } },
  });
  const thing = object({ id: string }, ['id']);
  const paths = {
    '/things/{id}': { ...within('id'), get: responses(ref('thing')) },
    '/things': { post: responses(ref('thing')) },
  };
  await standIn(paths, { thing, error }, async (ask) => assert.equal((await ask('GET', '/things/none')).status, 404));
});

test('the way to the next page may be a map, which is not there on the last', async () => {
  const note = object({ id: string, text: string }, ['id']);
  const next = object({ page: string }, ['page']);
  const page = (name: string, schema: unknown) => ({ name, in: 'query', schema });
  const paths = {
    '/notes': {
      post: { ...sends(object({ text: string })), ...answers(ref('note')) },
      get: {
        parameters: [page('page', string), page('limit', integer)],
        ...answers(object({ next, items: list(ref('note')) }, ['items'])),
      },
    },
    '/notes/{id}': { ...within('id'), get: answers(ref('note')) },
  };
  await standIn(paths, { note }, async (ask) => {
    for (const text of ['a', 'b', 'c']) await ask('POST', '/notes', { text });
    const first = (await ask('GET', '/notes?limit=2')).json;
    const second = (await ask('GET', `/notes?limit=2&page=${encodeURIComponent(first.next.page)}`)).json;
    assert.deepEqual(
      [...first.items, ...second.items].map(({ text }: { text: string }) => text),
      ['a', 'b', 'c'],
    );
    assert.ok(!('next' in second));
  });
});

test('a thing that is a map beside one of several forms is read, listed and changed like any other, and its parent is the one of its path', async () => {
  const state = {
    oneOf: [
      object({ status: { type: 'string', enum: ['open'] } }),
      object({ status: { type: 'string', enum: ['resolved'] }, resolvedBy: string }),
    ],
  };
  const comment = { allOf: [object({ id: string, text: string, board: string }, ['id', 'text', 'board']), state] };
  const paths = {
    '/boards/{boardId}/comments': {
      ...within('boardId'),
      post: { ...sends(object({ text: string })), ...answers(ref('comment')) },
      get: answers(list(ref('comment'))),
    },
    '/boards/{boardId}/comments/{commentId}': { ...within('boardId', 'commentId'), get: answers(ref('comment')) },
  };
  await standIn(paths, { comment }, async (ask) => {
    const { json: made } = await ask('POST', '/boards/b1/comments', { text: 'Well' });
    assert.deepEqual([made.text, made.board], ['Well', 'b1']);
    assert.deepEqual((await ask('GET', `/boards/b1/comments/${made.id}`)).json, made);
    assert.deepEqual((await ask('GET', '/boards/b1/comments')).json, [made]);
  });
});

test('the numbers beside a list are those of its pages, deeper inside too', async () => {
  const thing = object({ id: string }, ['id']);
  const sized = [
    { name: 'page', in: 'query', schema: integer },
    { name: 'page_size', in: 'query', schema: integer },
  ];
  const paths = {
    '/things': {
      post: { ...sends(object({})), ...answers(ref('thing')) },
      get: {
        parameters: sized,
        ...answers(
          object({
            data: list(ref('thing')),
            page: integer,
            pages: integer,
            results: integer,
            meta: object({ paging: object({ total: integer }) }),
          }),
        ),
      },
    },
    '/things/{id}': { ...within('id'), get: answers(ref('thing')) },
  };
  await standIn(paths, { thing }, async (ask) => {
    for (let made = 0; made < 3; made++) await ask('POST', '/things', {});
    const { data, ...rest } = (await ask('GET', '/things?page=2&page_size=2')).json;
    assert.equal(data.length, 1);
    assert.deepEqual(rest, { page: 2, pages: 2, results: 3, meta: { paging: { total: 3 } } });
  });
});

test('a default that is no address is none, and a header that names a version shows no caller', async () => {
  const schemes = {
    id: { type: 'apiKey', in: 'header', name: 'X-Id' },
    version: { type: 'apiKey', in: 'header', name: 'X-Api-Version' },
  };
  const hook = object({ id: string, url: { ...string, format: 'url', default: '' } }, ['id']);
  const paths = {
    '/hooks': {
      post: { ...sends(object({ url: { ...string, format: 'url', default: '' } })), ...answers(ref('hook')) },
      get: answers(list(ref('hook'))),
    },
    '/hooks/{id}': { ...within('id'), get: answers(ref('hook')) },
  };
  await standIn(paths, { hook }, async (ask) => assert.equal((await ask('POST', '/hooks', {})).status, 200));
  const authentication = part(
    { paths, components: { schemas: { hook }, securitySchemes: schemes }, security: [{ id: [], version: [] }] },
    'authentication',
  );
  assert.deepEqual((authentication as { accept: unknown }).accept, ['id']);
});

test('what an answer needed and nobody made leaves things untouched: what stands below others is there', async () => {
  const ship = object({ id: string, name: string }, ['id', 'name']);
  const trip = object({ id: string, ship: ref('ship') }, ['id', 'ship']);
  const paths = {
    '/ships': { post: { ...sends(object({ name: string }, ['name'])), ...answers(ref('ship'), {}, '201') } },
    '/ships/{ship}': { ...within('ship'), get: answers(ref('ship')) },
    '/ships/{ship}/cargo': { ...within('ship'), get: answers(object({ tons: integer }, ['tons'])) },
    // A ship holds others.
    '/ships/{ship}/cabins': {
      ...within('ship'),
      post: { ...sends(object({ deck: string })), ...answers(ref('cabin'), {}, '201') },
    },
    '/ships/{ship}/cabins/{cabin}': { ...within('ship', 'cabin'), get: answers(ref('cabin')) },
    '/trips': { post: { ...sends(object({ note: string })), ...answers(ref('trip'), {}, '201') } },
    '/trips/{trip}': { ...within('trip'), get: answers(ref('trip')) },
  };
  await standIn(paths, { ship, trip, cabin: object({ id: string, deck: string }, ['id']) }, async (ask) => {
    assert.equal((await ask('GET', '/ships/a/cargo')).status, 200);
    assert.equal((await ask('POST', '/trips', { note: 'n' })).status, 201);
    assert.equal((await ask('GET', '/ships/a/cargo')).status, 200);
    assert.equal((await ask('POST', '/ships', { name: 'Anna' })).status, 201);
    assert.equal((await ask('GET', '/ships/a/cargo')).status, 404);
  });
});

test('a slash at the end of a path is no part of what was sent there', async () => {
  const gone = { responses: { 204: { description: 'Done.' } } };
  const paths = {
    '/rooms/{room}/words/': {
      ...within('room'),
      post: { ...sends(object({ text: string, tone: string })), ...gone },
      get: answers(list(object({ text: string, tone: string }))),
    },
    '/rooms/{room}/words/{word}/': { ...within('room', 'word'), delete: gone },
  };
  await standIn(paths, {}, async (ask) => {
    for (const text of ['a', 'b']) await ask('POST', '/rooms/r/words/', { text, tone: 'low' });
    const { json: words } = await ask('GET', '/rooms/r/words');
    assert.equal(words.length, 2);
    await ask('DELETE', '/rooms/r/words/a/');
    const { json: left } = await ask('GET', '/rooms/r/words/');
    assert.deepEqual(
      left.map(({ text }: { text: string }) => text),
      ['b'],
    );
  });
});
