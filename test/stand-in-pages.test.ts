import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, integer, json, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What stands around the rows of a page, and what leads from one to the next. */

const pet = object({ id: string, name: string }, ['id', 'name']);
const query = (name: string, schema: unknown = string) => ({ name, in: 'query', schema });

/** `/pets`, of which the list is asked for by these parameters and answers so. */
const pets = (parameters: readonly unknown[], answer: unknown, more = {}) => ({
  '/pets': {
    post: { ...sends(object({ name: string })), ...answers(ref('pet')) },
    get: { parameters, ...answers(answer), ...more },
  },
  '/pets/{id}': { ...within('id'), get: answers(ref('pet')) },
});

const uri = { type: 'string', format: 'uri' };
const nullable = (schema: object) => ({ ...schema, type: ['string', 'null'] });

test('members around rows count these, though one beside them has to be made up', async () => {
  const meta = object({ paging: object({ total: integer, limit: integer, current_page: integer, total_pages: integer }) });
  const sum = { type: 'integer', description: 'Total sum of items in the list.' };
  const answer = object({ data: list(ref('pet')), operation: string, sum, other: integer, meta }, ['data', 'operation', 'sum']);
  await standIn(pets([query('page', integer), query('limit', integer)], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const { json: page, headers } = await ask('GET', '/pets?page=2&limit=2');
    assert.deepEqual(
      page.data.map(({ name }: { name: string }) => name),
      ['c'],
    );
    assert.deepEqual([page.sum, page.other], [3, undefined]);
    assert.deepEqual(page.meta, { paging: { total: 3, limit: 2, current_page: 2, total_pages: 2 } });
    assert.match(String(headers.get('ninefold-sampled')), /operation/);
    assert.doesNotMatch(String(headers.get('ninefold-sampled')), /sum|meta/);
  });
});

test('a map that says how many there are and how they are cut is about pages, whatever it is called, unless it holds rows itself', async () => {
  const range = object({ offset: integer, limit: integer, total: integer }, ['total']);
  const others = object({ limit: integer, total: integer, entries: list(object({ code: string })) });
  const answer = object({ items: list(ref('pet')), range, others }, ['items', 'range']);
  await standIn(pets([query('offset', integer), query('limit', integer)], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const { json: page } = await ask('GET', '/pets?offset=2&limit=2');
    assert.deepEqual(page.range, { offset: 2, limit: 2, total: 3 });
    assert.equal(page.others, undefined);
  });
});

test('a moment called `after` narrows a list, and leads to no page of it', async () => {
  const moment = { type: 'string', format: 'date-time' };
  const answer = object({ data: list(ref('pet')), next_url: nullable(uri) }, ['data']);
  await standIn(pets([query('after', moment), query('limit', integer)], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const { json: page } = await ask('GET', '/pets?limit=2');
    const { pathname, search } = new URL(page.next_url);
    assert.equal(search.includes('after='), false);
    const { json: last } = await ask('GET', pathname + search);
    assert.deepEqual(
      [...page.data, ...last.data].map(({ name }: { name: string }) => name),
      ['a', 'b', 'c'],
    );
    assert.equal(last.next_url ?? null, null);
    assert.equal((await ask('GET', '/pets?limit=2&after=2020-01-01T00:00:00Z')).status, 200);
  });
});

test('links lead from page to page, also where no parameter asks for one, and end with the last', async () => {
  const links = object({ self: uri, next: nullable(uri), prev: uri }, ['self']);
  const cursors = object({ next: nullable(string) });
  const answer = object({ data: list(ref('pet')), links, cursors, kind: string }, ['data', 'links', 'kind']);
  await standIn(pets([query('limit', integer)], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const seen: string[] = [];
    let at: string | null = '/pets?limit=2';
    for (let page = 0; at !== null && page < 5; page += 1) {
      const { json: told } = await ask('GET', at);
      seen.push(...told.data.map(({ name }: { name: string }) => name));
      const next: string | null = told.links.next ?? null;
      assert.equal(next === null, told.cursors?.next === undefined || told.cursors.next === null);
      at = next && new URL(next).pathname + new URL(next).search;
    }
    assert.deepEqual(seen, ['a', 'b', 'c']);
  });
  // Where nothing says how many rows a page has, the list is in one piece.
  await standIn(pets([], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const { json: told } = await ask('GET', '/pets');
    assert.deepEqual([told.data.length, told.links.next ?? null], [3, null]);
  });
});

test('an answer about one thing says its own address where it has a place for it', async () => {
  const links = object({ self: uri }, ['self']);
  const paths = {
    '/pets': { post: { ...sends(object({ name: string })), ...answers(object({ data: ref('pet') })) } },
    '/pets/{id}': { ...within('id'), get: answers(object({ data: ref('pet'), links }, ['data', 'links'])) },
  };
  await standIn(paths, { pet }, async (ask) => {
    const { json: made } = await ask('POST', '/pets', { name: 'a' });
    const { json: read } = await ask('GET', `/pets/${made.data.id}`);
    assert.deepEqual([read.data.name, new URL(read.links.self).pathname], ['a', `/pets/${made.data.id}`]);
  });
});

test('headers count rows where the description states or names them, and nowhere else', async () => {
  const stated = {
    responses: { 200: { description: 'ok', headers: { 'X-Total-Count': { schema: integer } }, ...json(list(ref('pet'))) } },
  };
  const counted = async (more: object) => {
    let count: string | null | undefined;
    await standIn(pets([query('page', integer), query('limit', integer)], list(ref('pet')), more), { pet }, async (ask) => {
      for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
      count = (await ask('GET', '/pets?limit=2')).headers.get('x-total-count');
    });
    return count;
  };
  assert.equal(await counted(stated), '3');
  assert.equal(await counted({ description: 'The X-Total-Count header provides total count.' }), '3');
  assert.equal(await counted({ description: 'Counts nothing.' }), null);
});

test('pages are asked for by the usual words in any spelling', async () => {
  const answer = object({ data: list(ref('pet')), startPosition: string, resultSetSize: string });
  await standIn(pets([query('count'), query('start_position')], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const { json: told } = await ask('GET', '/pets?count=2&start_position=1');
    assert.deepEqual([told.data.length, told.startPosition, told.resultSetSize], [2, '1', '2']);
  });
  // Also beside a token, by which such lists are told.
  const more = object({ data: list(ref('pet')), next_token: string });
  const beside = [query('limit', integer), query('page_token'), query('start_position', integer)];
  await standIn(pets(beside, more), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    assert.equal((await ask('GET', '/pets?limit=2&start_position=2')).json.data.length, 1);
  });
  await standIn(pets([query('currentPage', integer), query('pageSize', integer)], list(ref('pet'))), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    assert.equal((await ask('GET', '/pets?currentPage=2&pageSize=2')).json.length, 1);
  });
});

test('what was sent to a path is listed there page by page, narrowed by what its things have', async () => {
  const word = object({ text: string, tone: string });
  const paths = (parameters: readonly unknown[], answer: unknown) => ({
    '/rooms/{room}/words': {
      ...within('room'),
      post: { ...sends(word), responses: { 204: { description: 'Heard.' } } },
      get: { parameters, ...answers(answer) },
    },
  });
  const said = [
    { text: 'a', tone: 'low' },
    { text: 'b', tone: 'high' },
    { text: 'c', tone: 'low' },
  ];
  const texts = (told: readonly { text: string }[]) => told.map(({ text }) => text);
  const answer = object({ words: list(word), hasNext: { type: 'boolean' }, total: integer }, ['words', 'hasNext', 'total']);
  await standIn(paths([query('limit', integer), query('offset', integer), query('tone')], answer), {}, async (ask) => {
    for (const one of said) await ask('POST', '/rooms/hall/words', one);
    const { json: first } = await ask('GET', '/rooms/hall/words?limit=2');
    assert.deepEqual([texts(first.words), first.hasNext, first.total], [['a', 'b'], true, 3]);
    const { json: last } = await ask('GET', '/rooms/hall/words?limit=2&offset=2');
    assert.deepEqual([texts(last.words), last.hasNext, last.total], [['c'], false, 3]);
    const { json: low } = await ask('GET', '/rooms/hall/words?tone=low');
    assert.deepEqual([texts(low.words), low.total], [['a', 'c'], 2]);
  });
  // What no thing is called like narrows nothing, and where no page is stated all are shown.
  await standIn(paths([query('mood')], list(word)), {}, async (ask) => {
    for (const one of said) await ask('POST', '/rooms/hall/words', one);
    assert.deepEqual(texts((await ask('GET', '/rooms/hall/words?mood=low')).json), ['a', 'b', 'c']);
  });
});

test('what is sent is listed by cursors too, which end', async () => {
  const word = object({ text: string });
  const answer = object({ words: list(word), next_cursor: nullable(string) });
  const paths = {
    '/words': {
      post: { ...sends(word), responses: { 204: { description: 'Heard.' } } },
      get: { parameters: [query('limit', integer), query('cursor')], ...answers(answer) },
    },
  };
  await standIn(paths, {}, async (ask) => {
    for (const text of ['a', 'b', 'c']) await ask('POST', '/words', { text });
    const { json: first } = await ask('GET', '/words?limit=2');
    assert.deepEqual([first.words.length, typeof first.next_cursor], [2, 'string']);
    const { json: last } = await ask('GET', `/words?limit=2&cursor=${first.next_cursor}`);
    assert.deepEqual([last.words[0].text, last.words.length, last.next_cursor ?? null], ['c', 1, null]);
  });
});

test('a text of JSON in an extension is an example of the answer that it fits, and of no other', async () => {
  const edit = object({ object: string, created: integer });
  const docs = (text: string) => ({ 'x-docs': { title: 'An edit', sent: '{ "text": "a", "how": "b" }', came: text } });
  const asked = async (text: string) => {
    let made: unknown;
    const paths = { '/edits': { post: { ...sends(object({ text: string, how: string })), ...answers(edit), ...docs(text) } } };
    await standIn(paths, {}, async (ask) => {
      made = (await ask('POST', '/edits', { text: 'x' })).json;
    });
    return made;
  };
  assert.deepEqual(await asked('{ "object": "edit", "created": 7, }'), { object: 'edit', created: 7 });
  const other = (await asked('{ "object": "edit", "made": 7 }')) as { object: string };
  assert.notEqual(other.object, 'edit');
});

test('links in a map of several forms lead from page to page', async () => {
  const pages = { anyOf: [object({ last: uri, next: uri }), object({ first: uri, prev: uri }), { type: 'object' }] };
  const answer = object({ pets: list(ref('pet')), links: object({ pages }), meta: object({ total: integer }, ['total']) }, [
    'pets',
  ]);
  await standIn(pets([query('page', integer), query('per_page', integer)], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const { json: first } = await ask('GET', '/pets?per_page=2');
    const { pathname, search } = new URL(first.links.pages.next);
    const { json: last } = await ask('GET', pathname + search);
    assert.deepEqual(
      [...first.pets, ...last.pets].map(({ name }: { name: string }) => name),
      ['a', 'b', 'c'],
    );
    assert.equal(last.links?.pages?.next, undefined);
  });
});

test('a token asks for the next page beside the size of one, and where it is required shows who calls', async () => {
  const answer = object({ pets: list(ref('pet')), tokenPagination: object({ nextPageToken: string }) }, ['pets']);
  const token = query('token');
  await standIn(pets([token, query('maxResults', integer)], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const { json: first } = await ask('GET', '/pets?maxResults=2');
    const { json: last } = await ask('GET', `/pets?maxResults=2&token=${first.tokenPagination.nextPageToken}`);
    assert.deepEqual([first.pets.length, last.pets.length], [2, 1]);
    assert.equal(last.tokenPagination?.nextPageToken, undefined);
  });
  await standIn(pets([{ ...token, required: true }, query('maxResults', integer)], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    assert.equal((await ask('GET', '/pets?maxResults=2&token=xyz')).json.pets.length, 3);
  });
});

test('a page behind the last row is empty, though the list has to hold something', async () => {
  const answer = object({ pets: { type: 'array', minItems: 1, items: ref('pet') } }, ['pets']);
  await standIn(pets([query('offset', integer), query('limit', integer)], answer), { pet }, async (ask) => {
    assert.equal((await ask('GET', '/pets')).json.pets.length, 1);
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const shown = async (offset: number) => (await ask('GET', `/pets?limit=2&offset=${offset}`)).json.pets.length;
    assert.deepEqual([await shown(0), await shown(2), await shown(4)], [2, 1, 0]);
  });
});

test('an index beside what says how many is that of the first row', async () => {
  const answer = object({ pets: list(ref('pet')) }, ['pets']);
  for (const [index, size] of [
    ['startIndex', 'limit'],
    ['record_index', 'page_size'],
  ] as const)
    await standIn(pets([query(index, integer), query(size, integer)], answer), { pet }, async (ask) => {
      for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
      const { json } = await ask('GET', `/pets?${size}=2&${index}=2`);
      assert.deepEqual(
        (json.pets as { name: string }[]).map(({ name }) => name),
        ['c'],
      );
    });
});

test('a list that nobody makes anything of shows some, whatever it narrows itself to where nobody asks', async () => {
  const shop = object({ id: string, locale: string, units: string }, ['id', 'locale', 'units']);
  const usual = (name: string, value: string) => query(name, { ...string, default: value });
  const paths = {
    '/shops': { get: { parameters: [usual('locale', 'en'), usual('unit', 'miles')], ...answers(list(ref('shop'))) } },
    '/shops/{id}': { ...within('id'), get: answers(ref('shop')) },
  };
  await standIn(paths, { shop }, async (ask) => {
    const { json: all } = await ask('GET', '/shops');
    assert.ok(all.length > 0);
    assert.deepEqual([...new Set(all.map(({ locale }: { locale: string }) => locale))], ['en']);
    assert.deepEqual((await ask('GET', '/shops?locale=fr')).json, []);
    // What is asked for in so many words narrows it, also to what is usual.
    assert.deepEqual((await ask('GET', '/shops?unit=miles')).json, []);
  });
});

test('what leads on is an address where its description says so', async () => {
  const next = { type: 'string', description: 'The URL of the next page of results, if any.' };
  const answer = object({ pets: list(ref('pet')), next, total: integer }, ['pets']);
  await standIn(pets([query('startAt', integer), query('maxResults', integer)], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const { json: first } = await ask('GET', '/pets?maxResults=2');
    const { pathname, search } = new URL(first.next);
    assert.equal((await ask('GET', pathname + search)).json.pets.length, 1);
  });
});

test('the first page is the one that is shown where none is asked for, though a number below it passes', async () => {
  const page = query('page', { type: 'integer', minimum: 0, default: 1 });
  const answer = object({ items: list(ref('pet')) }, ['items']);
  await standIn(pets([page, query('limit', integer)], answer), { pet }, async (ask) => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/pets', { name });
    const namesOf = async (target: string) =>
      ((await ask('GET', target)).json.items as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(await namesOf('/pets?page=1&limit=2'), ['a', 'b']);
    assert.deepEqual(await namesOf('/pets?page=2&limit=2'), ['c']);
  });
});
