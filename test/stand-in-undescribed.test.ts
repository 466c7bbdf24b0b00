import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, integer, json, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** Descriptions that say where things are and nothing of what is answered there. */

const silent = { responses: { 200: { description: 'Success' } } };

const boards = {
  '/boards': { get: silent, post: { ...sends(object({ name: string, note: string })), ...silent } },
  '/boards/{idBoard}': {
    ...within('idBoard'),
    get: silent,
    put: { ...sends(object({ name: string })), ...silent },
    delete: silent,
  },
  '/lists': { post: { ...sends(object({ name: string, idBoard: string })), ...silent } },
  '/boards/{idBoard}/lists': { ...within('idBoard'), get: silent },
  '/boards/{idBoard}/settings': { ...within('idBoard'), get: silent, put: { ...sends(object({ colour: string })), ...silent } },
  '/boards/{idBoard}/members': { ...within('idBoard'), get: silent },
  '/boards/{idBoard}/address': { ...within('idBoard'), get: silent },
};

test('what is made where nothing is said of answers has an identifier, and is listed, read, changed and taken out', async () => {
  await standIn(boards, {}, async (ask) => {
    const { status, json: made } = await ask('POST', '/boards', { name: 'Harbour' });
    assert.deepEqual([status, made], [200, { id: made.id, name: 'Harbour' }]);
    const { json: other } = await ask('POST', '/boards', { name: 'Castle' });
    assert.notEqual(other.id, made.id);
    assert.deepEqual((await ask('GET', '/boards')).json, [made, other]);
    assert.deepEqual((await ask('PUT', `/boards/${made.id}`, { name: 'Quay' })).json, { id: made.id, name: 'Quay' });
    assert.deepEqual((await ask('GET', `/boards/${made.id}`)).json, { id: made.id, name: 'Quay' });
    assert.equal((await ask('DELETE', `/boards/${made.id}`)).status, 200);
    assert.equal((await ask('GET', `/boards/${made.id}`)).status, 404);
    assert.equal((await ask('DELETE', `/boards/${made.id}`)).status, 404);
    assert.deepEqual((await ask('GET', '/boards')).json, [other]);
    assert.notEqual((await ask('POST', '/boards', { name: 'Mill' })).json.id, other.id);
  });
});

test('below a thing those are listed that name it, and what was sent there last is read again', async () => {
  await standIn(boards, {}, async (ask) => {
    const { json: board } = await ask('POST', '/boards', { name: 'Harbour' });
    const { json: mine } = await ask('POST', '/lists', { name: 'Doing', idBoard: board.id });
    await ask('POST', '/lists', { name: 'Done', idBoard: 'another' });
    assert.deepEqual((await ask('GET', `/boards/${board.id}/lists`)).json, [mine]);
    assert.deepEqual((await ask('GET', `/boards/${board.id}/members`)).json, []);
    assert.deepEqual((await ask('GET', `/boards/${board.id}/settings`)).json, []);
    await ask('PUT', `/boards/${board.id}/settings`, { colour: 'red' });
    assert.deepEqual((await ask('GET', `/boards/${board.id}/settings`)).json, { colour: 'red' });
  });
});

test('members of a body that stand in the query are taken for it, as those of a form', async () => {
  await standIn(boards, {}, async (ask) => {
    const { json: made, headers } = await ask('POST', '/boards?name=Harbour&note=a%20b&colour=red');
    assert.deepEqual(made, { id: made.id, name: 'Harbour', note: 'a b' });
    assert.match(String(headers.get('ninefold-warning')), /members of the body are taken from the query/);
  });
});

test('where reading is described, an answer without a body is one, and other media types are left alone', async () => {
  const paths = {
    '/things': { get: answers(list(object({ size: integer }))), post: { ...sends(object({ size: integer })), ...silent } },
    '/files/{name}': { ...within('name'), get: { responses: { 200: { description: 'ok', content: { 'image/png': {} } } } } },
  };
  await standIn(paths, {}, async (ask) => {
    assert.equal((await ask('POST', '/things', { size: 1 })).json, undefined);
    assert.notEqual((await ask('GET', '/files/a')).headers.get('content-type'), 'application/json');
  });
});

test('a list of things that narrows one of anything shows things, and several that are sent are made, as what they are called tells', async () => {
  const wide = object({
    items: { type: 'array', description: 'What is there.', items: { type: 'object', properties: {} } },
    total: integer,
  });
  const page = (name: string) => ({ allOf: [ref('page'), object({ items: list(ref(name)) })] });
  const contact = object({ id: integer, name: string });
  const paths = {
    '/contacts': { get: answers(ref('contacts')), post: { ...sends(list(ref('contact'))), ...answers(ref('names')) } },
    '/contacts/{id}': { ...within('id'), get: answers(ref('contact')) },
  };
  const schemas = { page: wide, contact, name: object({ id: integer }), contacts: page('contact'), names: page('name') };
  await standIn(paths, schemas, async (ask) => {
    const { json: made } = await ask('POST', '/contacts', [{ name: 'Ann' }, { name: 'Bea' }]);
    const [first, second, ...more] = made.items;
    assert.deepEqual([Object.keys(first), more], [['id'], []]);
    assert.deepEqual((await ask('GET', `/contacts/${second.id}`)).json, { id: second.id, name: 'Bea' });
    const { json: listed } = await ask('GET', '/contacts');
    assert.deepEqual([listed.items.map(({ name }: { name: string }) => name), listed.total], [['Ann', 'Bea'], 2]);
  });
});

test('which of two names tells things apart, and stands beside what was made, is its id', async () => {
  const thing = object({ id: integer, slug: string, title: string, note: string });
  const shown = object({ id: { type: 'number' }, result: object({ slug: string, title: string, note: string }) });
  const paths = {
    '/boards': { post: { ...sends(object({ title: string })), ...answers(shown) } },
    '/boards/{id_or_slug}': { ...within('id_or_slug'), get: answers(object({ result: ref('thing') })) },
  };
  await standIn(paths, { thing }, async (ask) => {
    const { json: made } = await ask('POST', '/boards', { title: 'Castle' });
    assert.deepEqual([typeof made.id, made.result.title], ['number', 'Castle']);
    const { json: read } = await ask('GET', `/boards/${made.id}`);
    assert.deepEqual([read.result.id, read.result.title], [made.id, 'Castle']);
    assert.equal((await ask('GET', `/boards/${read.result.slug}`)).status, 200);
  });
});

test('bytes are taken without their media type, and what refuses says why in the one text that it has', async () => {
  const error = object({ status_code: integer, status_reason: string });
  const refuses = { 422: { description: 'no', content: { 'application/json': { schema: ref('error') } } } };
  const made = { 201: { description: 'ok', ...json(object({ id: integer })) } };
  const paths = {
    '/scans': { post: { requestBody: { content: { 'application/dicom': {} } }, responses: { ...made, ...refuses } } },
    '/notes': { post: { ...sends(object({ text: string }, ['text'])), responses: { ...made, ...refuses } } },
  };
  await standIn(paths, { error }, async (ask) => {
    const { status } = await ask('POST', '/scans', { any: 1 }, { 'content-type': '' });
    assert.equal(status, 201);
    const { json: wrong } = await ask('POST', '/notes', {});
    assert.match(wrong.status_reason, /text is/);
  });
});

test('what is sent as `account_id` is the name of the account that is told, and lists are narrowed by it', async () => {
  const person = object({ id: integer, name: string, account: object({ id: integer, link: string }) }, ['id']);
  const sent = object({ name: string, account_id: integer });
  const asked = { name: 'account_id', in: 'query', schema: integer };
  const paths = {
    '/people': {
      post: { ...sends(sent), ...answers(ref('person')) },
      get: { parameters: [asked], ...answers(list(ref('person'))) },
    },
    '/people/{id}': { ...within('id'), get: answers(ref('person')), put: { ...sends(sent), ...answers(ref('person')) } },
  };
  await standIn(paths, { person }, async (ask) => {
    const { json: ann } = await ask('POST', '/people', { name: 'Ann', account_id: 7 });
    assert.equal(ann.account.id, 7);
    await ask('POST', '/people', { name: 'Bea', account_id: 8 });
    const names = async (account: number): Promise<string[]> =>
      (await ask('GET', `/people?account_id=${account}`)).json.map(({ name }: { name: string }) => name);
    assert.deepEqual([await names(7), await names(8), await names(9)], [['Ann'], ['Bea'], []]);
    assert.equal((await ask('PUT', `/people/${ann.id}`, { name: 'Ann', account_id: 9 })).json.account.id, 9);
    assert.deepEqual([await names(7), await names(9)], [[], ['Ann']]);
  });
});

test('an envelope says that it went well, and a new thing is told by what it is called after', async () => {
  const thing = object({ id: string, name: string }, ['id']);
  const made = object({ accountId: string, invoiceId: string, success: { type: 'boolean' } });
  const shown = object({ basicInfo: ref('GetAccountBasicInfo'), success: { type: 'boolean' } });
  const paths = {
    '/accounts': { post: { ...sends(object({ name: string })), ...answers(made) } },
    '/accounts/{id}': { ...within('id'), get: answers(shown) },
  };
  await standIn(paths, { GetAccountBasicInfo: thing }, async (ask) => {
    const { json: told } = await ask('POST', '/accounts', { name: 'Ann' });
    assert.equal(told.success, true);
    const { json: read } = await ask('GET', `/accounts/${told.accountId}`);
    assert.deepEqual(read, { success: true, basicInfo: { id: told.accountId, name: 'Ann' } });
  });
});

test('a list of which nothing is known ends on a page that only its own address leads to', async () => {
  const cards = object({ cards: list(object({ number: string })), nextPage: string });
  await standIn({ '/cards': { get: answers(cards) } }, {}, async (ask) => {
    assert.equal((await ask('GET', '/cards')).json.cards.length, 1);
    assert.deepEqual((await ask('GET', '/cards?page=2')).json, { cards: [] });
  });
});

test('moments that are written otherwise than their format has them are taken with a warning, and what is no moment is not', async () => {
  const sent = object({ at: { type: 'string', format: 'date-time' }, day: { type: 'string', format: 'date' } });
  await standIn({ '/notes': { post: { ...sends(sent), ...answers(sent) } } }, {}, async (ask) => {
    for (const at of ['2026-01-31 12:00:00', '2026-01-31T12:00:00-0700', '2026-01-31T12:00', '2026-01-31'])
      assert.equal((await ask('POST', '/notes', { at })).status, 200, at);
    const { status, headers } = await ask('POST', '/notes', { day: '2026-01-31T12:00:00Z' });
    assert.equal(status, 200);
    assert.match(headers.get('ninefold-warning') ?? '', /day/);
    for (const at of ['2026-13-31 12:00:00', 'tomorrow', '31.01.2026'])
      assert.equal((await ask('POST', '/notes', { at })).status, 400, at);
  });
});

test('a new thing that says nothing of what a list asks for by default is one that it shows', async () => {
  const thing = object({ id: integer, name: string, type: string, imported: { type: 'boolean' } }, ['id']);
  const parameters = [
    { name: 'type', in: 'query', schema: { type: 'string', default: 'active' } },
    { name: 'imported', in: 'query', schema: { type: 'boolean', default: true } },
  ];
  const paths = {
    '/things': {
      get: { parameters, ...answers(list(ref('thing'))) },
      post: { ...sends(ref('thing')), ...answers(ref('thing')) },
    },
    '/things/{id}': { ...within('id'), get: answers(ref('thing')) },
  };
  await standIn(paths, { thing }, async (ask) => {
    const { json: made } = await ask('POST', '/things', { name: 'a' });
    assert.deepEqual([made.type, made.imported], ['active', true]);
    await ask('POST', '/things', { name: 'b', type: 'ended' });
    const names = async (query = ''): Promise<string[]> =>
      (await ask('GET', `/things${query}`)).json.map(({ name }: { name: string }) => name);
    assert.deepEqual([await names(), await names('?type=ended')], [['a'], ['b']]);
  });
});

test('undescribed lists are cut into the pages that their endpoint states, and things are called as their path calls them', async () => {
  const parameters = [
    { name: 'page', in: 'query', schema: { type: 'integer', default: 1 } },
    { name: 'perPage', in: 'query', schema: { type: 'integer', default: 10 } },
  ];
  const paths = {
    '/news': { get: { parameters, ...silent }, post: { ...sends(object({ title: string })), ...silent } },
    '/news/{slug}': { ...within('slug'), get: silent, delete: { responses: { 204: { description: 'Gone' } } } },
  };
  await standIn(paths, {}, async (ask) => {
    for (const title of ['First news', 'Second news', 'Third news']) await ask('POST', '/news', { title });
    const slugs = async (query: string): Promise<string[]> =>
      (await ask('GET', `/news${query}`)).json.map(({ slug }: { slug: string }) => slug);
    assert.deepEqual(await slugs('?perPage=2'), ['first-news', 'second-news']);
    assert.deepEqual(await slugs('?perPage=2&page=2'), ['third-news']);
    assert.deepEqual(await slugs('?perPage=2&page=3'), []);
    const { status, json: nothing } = await ask('DELETE', '/news/second-news');
    assert.deepEqual([status, nothing], [204, undefined]);
    assert.equal((await ask('GET', '/news/second-news')).status, 404);
  });
});

test('lists and maps that may be null are shown with something in them, and what is sent in a map alone is what it holds', async () => {
  const nullable = (shape: object) => ({ ...shape, nullable: true });
  const image = object({ id: integer, title: nullable(string), removed_at: nullable({ type: 'string', format: 'date-time' }) });
  const page = object({ images: nullable(list(image)), facets: nullable(object({ size: integer })), note: nullable(string) });
  const sent = object({ article: object({ title: string, names: object({ localeCode: string }) }) });
  const shown = object({ title: string, names: object({ localeCode: string }), size: integer });
  const paths = { '/search': { get: answers(page) }, '/articles/publish': { post: { ...sends(sent), ...answers(shown) } } };
  await standIn(paths, {}, async (ask) => {
    const { json: found } = await ask('GET', '/search');
    const [one] = found.images;
    assert.deepEqual([typeof one.title, one.removed_at, typeof found.facets.size, found.note], ['string', null, 'number', null]);
    const { json: told } = await ask('POST', '/articles/publish', { article: { title: 'Tides', names: { en_US: 'Tides' } } });
    assert.deepEqual([told.title, told.names], ['Tides', { en_US: 'Tides' }]);
  });
});

test('a body of which nothing is said is kept where nothing is said of the answer either, whatever its form', async () => {
  const paths = {
    '/projects': { get: silent, post: silent },
    '/projects/{projectIdOrKey}': { ...within('projectIdOrKey'), get: silent, put: silent, delete: silent },
    '/notes': { post: silent },
  };
  await standIn(paths, {}, async (ask) => {
    const { status, json: made } = await ask('POST', '/projects', { key: 'ISS', name: 'Issues' });
    assert.deepEqual([status, made], [200, { id: made.id, key: 'ISS', name: 'Issues' }]);
    assert.equal(typeof made.id, 'string');
    for (const name of ['ISS', made.id]) assert.deepEqual((await ask('GET', `/projects/${name}`)).json, made);
    assert.equal((await ask('PUT', '/projects/ISS', { name: 'All issues' })).json.name, 'All issues');
    assert.equal((await ask('DELETE', '/projects/ISS')).status, 200);
    assert.equal((await ask('GET', '/projects/ISS')).status, 404);
    // Of what is not read nothing is kept, and it is not refused.
    assert.equal((await ask('POST', '/projects')).status, 200);
  });
});
