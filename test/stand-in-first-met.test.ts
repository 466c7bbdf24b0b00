import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { part, take } from './import/source.ts';
import { answers, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What a client of a vendor whom nobody had met does first: it sets what it then reads, sends several at once, and binds by name. */

type Effects = Readonly<Record<string, { readonly does?: string }>>;

const nothing = { responses: { 204: { description: 'Done.' } } };

test('what is sent to a path of which only shapes are known is there when it is read, until it is deleted; what is read elsewhere has none of it', async () => {
  const server = object({ name: string, colour: string, id: string }, ['id']);
  const paths = {
    '/server': { get: answers(ref('server')), put: { ...sends(object({ name: string })), ...answers(ref('server')) } },
    '/words': {
      get: answers(object({ words: list(string) }, ['words'])),
      put: { ...sends(object({ words: list(string) })), ...nothing },
      delete: nothing,
    },
    '/mirror': { get: answers(ref('server')) },
    '/app.getPreferences': { get: answers(object({ theme: string })) },
    '/app.putPreferences': { post: { ...sends(object({ theme: string })), ...nothing } },
  };
  await standIn(paths, { server }, async (ask) => {
    const { json: before } = await ask('GET', '/server');
    const { json: changed } = await ask('PUT', '/server', { name: 'Box', password: 'x' });
    assert.deepEqual(changed, { ...before, name: 'Box' });
    assert.deepEqual((await ask('GET', '/server')).json, changed);
    assert.notEqual((await ask('GET', '/mirror')).json.name, 'Box');
    assert.equal((await ask('PUT', '/words', { words: ['a', 'b'] })).status, 204);
    assert.deepEqual((await ask('GET', '/words')).json, { words: ['a', 'b'] });
    await ask('DELETE', '/words');
    assert.notDeepEqual((await ask('GET', '/words')).json, { words: ['a', 'b'] });
    await ask('POST', '/app.putPreferences', { theme: 'dark' });
    assert.equal((await ask('GET', '/app.getPreferences')).json.theme, 'dark');
  });
});

test('what is sent to a path is listed there, one or a list of them, each path for itself; a list of other things is refused', async () => {
  const message = object({ id: string, text: string });
  const channel = { parameters: [{ name: 'channel', in: 'path', required: true, schema: string }] };
  const paths = {
    '/channels/{channel}': { ...channel, get: answers(ref('channel')) },
    '/channels/{channel}/messages': {
      ...channel,
      get: answers(list(ref('message'))),
      post: { ...sends(ref('message')), ...answers(object({ channel: string })) },
    },
    '/tables': { get: answers(object({ value: list(ref('message')) })), post: { ...sends(ref('message')), ...nothing } },
    "/tables('{id}')": { ...within('id'), delete: nothing },
  };
  const shapes = { message, channel: object({ channel: string }, ['channel']) };
  await standIn(paths, shapes, async (ask) => {
    const texts = async (name: string) =>
      (await ask('GET', `/channels/${name}/messages`)).json.map(({ text }: { text?: string }) => text);
    // Nothing makes a channel, so that each is there.
    assert.equal((await ask('POST', '/channels/left/messages', { text: 'one' })).json.channel, 'left');
    const several = await ask('POST', '/channels/left/messages', [{ text: 'two' }, { text: 'three' }]);
    assert.equal(several.status, 200);
    assert.match(String(several.headers.get('ninefold-warning')), /body is no object/);
    await ask('POST', '/channels/right/messages', { text: 'four' });
    assert.deepEqual(await texts('left'), ['one', 'two', 'three']);
    assert.deepEqual(await texts('right'), ['four']);
    for (const id of ['a', 'b']) await ask('POST', '/tables', { id, text: 'five' });
    await ask('DELETE', "/tables('a')");
    assert.deepEqual((await ask('GET', '/tables')).json, { value: [{ id: 'b', text: 'five' }] });
    assert.equal((await ask('POST', '/channels/left/messages', [{ text: 1 }])).status, 400);
    assert.equal((await ask('POST', '/channels/left/messages', ['four'])).status, 400);
  });
});

test('what succeeds tells of no error, unless its own example does', async () => {
  const receipt = object({ ErrorCode: { type: 'integer' }, Message: string, errors: list(string), to: string }, ['ErrorCode']);
  const shown = { content: { 'application/json': { schema: receipt, example: { ErrorCode: 7, to: 'a' } } }, description: 'x' };
  const job = object({ id: string, name: string, error: object({ code: string }), error_message: string }, ['id']);
  const paths = {
    '/mail': { post: { ...sends(object({ to: string })), ...answers(receipt) } },
    '/post': { post: { ...sends(object({ to: string })), responses: { 200: shown } } },
    '/jobs': { post: { ...sends(object({ name: string })), ...answers(ref('job'), {}, '201') } },
    '/jobs/{id}': { ...within('id'), get: answers(ref('job')) },
  };
  await standIn(paths, { job }, async (ask) => {
    const { json } = await ask('POST', '/mail', { to: 'b' });
    assert.deepEqual([json.ErrorCode, json.errors, json.to], [0, undefined, 'b']);
    assert.equal((await ask('POST', '/post', { to: 'b' })).json.ErrorCode, 7);
    const { json: made } = await ask('POST', '/jobs', { name: 'n' });
    assert.deepEqual([made.error, made.error_message], [undefined, undefined]);
  });
});

test('a parent in a path may be called by its number or its name, and what belongs to it is the same by either', async () => {
  const issue = object({ id: { type: 'integer' }, number: { type: 'integer' }, title: string }, ['id', 'number']);
  const note = object({ id: { type: 'integer' }, body: string }, ['id']);
  const one = { parameters: [{ name: 'index', in: 'path', required: true, schema: { type: 'integer' } }] };
  const paths = {
    '/issues': { post: { ...sends(object({ title: string })), ...answers(ref('issue'), {}, '201') } },
    '/issues/{index}': { ...one, get: answers(ref('issue')) },
    '/issues/{index}/notes': {
      ...one,
      get: answers(list(ref('note'))),
      post: { ...sends(object({ body: string })), ...answers(ref('note'), {}, '201') },
    },
    '/notes/{id}': { ...within('id'), get: answers(ref('note')) },
  };
  await standIn(paths, { issue, note }, async (ask) => {
    const { json: made } = await ask('POST', '/issues', { title: 'A' });
    assert.notEqual(made.id, made.number);
    assert.equal((await ask('POST', `/issues/${made.number}/notes`, { body: 'by number' })).status, 201);
    assert.equal((await ask('POST', `/issues/${made.id}/notes`, { body: 'by id' })).status, 201);
    for (const name of [made.number, made.id]) assert.equal((await ask('GET', `/issues/${name}/notes`)).json.length, 2);
    assert.equal((await ask('POST', '/issues/999999/notes', { body: 'lost' })).status, 404);
  });
});

test('a body that lists names binds, and shows all that is bound; so does PUT without a body, from both ends; what says more of a thing makes one', async () => {
  const label = object({ id: string, name: string, colour: string }, ['id']);
  const issue = object({ id: string, title: string }, ['id']);
  const user = object({ id: string, name: string }, ['id']);
  const two = { parameters: ['id', 'user'].map((name) => ({ name, in: 'path', required: true, schema: string })) };
  const named = object({ labels: list(string) });
  const make = (thing: string, body: object) => ({ post: { ...sends(body), ...answers(ref(thing), {}, '201') } });
  const paths = {
    '/labels': { ...make('label', object({ name: string, colour: string })), get: answers(list(ref('label'))) },
    '/labels/{id}': { ...within('id'), get: answers(ref('label')) },
    '/issues': make('issue', object({ title: string })),
    '/issues/{id}': { ...within('id'), get: answers(ref('issue')) },
    '/issues/{id}/labels': {
      ...within('id'),
      get: answers(list(ref('label'))),
      post: { ...sends(named), ...answers(list(ref('label'))) },
      put: { ...sends(named), ...answers(list(ref('label'))) },
    },
    '/issues/{id}/labels/{label}': {
      parameters: ['id', 'label'].map((name) => ({ name, in: 'path', required: true, schema: string })),
      delete: nothing,
    },
    '/users': make('user', object({ name: string })),
    '/users/{id}': { ...within('id'), get: answers(ref('user')) },
    '/users/{id}/groups': { ...within('id'), get: answers(list(ref('group'))) },
    '/groups': make('group', object({ name: string })),
    '/groups/{id}': { ...within('id'), get: answers(ref('group')) },
    '/groups/{id}/users': { ...within('id'), get: answers(list(ref('user'))) },
    '/groups/{id}/users/{user}': { ...two, put: nothing, delete: nothing },
    // What is sent there is the thing itself.
    '/shelves/{shelf}/labels': { ...within('shelf'), ...make('label', object({ name: string, colour: string })) },
  };
  const shapes = { label, issue, user, group: user };
  const effects = part({ paths, components: { schemas: shapes } }, 'endpoints') as Effects;
  assert.equal(effects['POST /issues/{id}/labels']?.does, undefined);
  assert.equal(effects['PUT /groups/{id}/users/{user}']?.does, undefined);
  assert.equal(effects['DELETE /groups/{id}/users/{user}']?.does, undefined);
  assert.equal(effects['POST /shelves/{shelf}/labels']?.does, 'create label');
  await standIn(paths, shapes, async (ask) => {
    const made = async (path: string, body: object) => (await ask('POST', path, body)).json.id as string;
    const [bug, docs] = [await made('/labels', { name: 'bug' }), await made('/labels', { name: 'docs' })];
    const of = await made('/issues', { title: 'A' });
    const ids = ({ json }: { readonly json: readonly { readonly id: string }[] }) => json.map(({ id }) => id);
    assert.deepEqual(ids(await ask('POST', `/issues/${of}/labels`, { labels: [bug] })), [bug]);
    assert.deepEqual(ids(await ask('POST', `/issues/${of}/labels`, { labels: ['docs'] })), [bug, docs]);
    assert.equal((await ask('DELETE', `/issues/${of}/labels/bug`)).status, 204);
    assert.deepEqual(ids(await ask('GET', `/issues/${of}/labels`)), [docs]);
    assert.deepEqual(ids(await ask('PUT', `/issues/${of}/labels`, { labels: [bug] })), [bug]);
    assert.deepEqual(ids(await ask('GET', '/labels')), [bug, docs]);
    const [ada, staff] = [await made('/users', { name: 'Ada' }), await made('/groups', { name: 'Staff' })];
    assert.deepEqual((await ask('GET', `/users/${ada}/groups`)).json, []);
    assert.equal((await ask('PUT', `/groups/${staff}/users/${ada}`)).status, 204);
    assert.deepEqual(ids(await ask('GET', `/groups/${staff}/users`)), [ada]);
    assert.deepEqual(ids(await ask('GET', `/users/${ada}/groups`)), [staff]);
    await ask('DELETE', `/groups/${staff}/users/${ada}`);
    assert.deepEqual((await ask('GET', `/groups/${staff}/users`)).json, []);
    assert.equal((await ask('GET', `/users/${ada}`)).status, 200);
  });
});

test('PUT makes what is not there where its own words say so, and no more than replaces where they do not', () => {
  const device = object({ id: string, name: string }, ['id']);
  const put = (words: object) => ({ put: { ...words, ...sends(ref('device')), ...answers(ref('device')) } });
  const made = { post: { ...sends(ref('device')), ...answers(ref('device'), {}, '201') } };
  const paths = {
    '/devices': made,
    '/devices/{id}': { ...within('id'), get: answers(ref('device')), ...put({ summary: 'Create or update a device' }) },
    '/phones': made,
    '/phones/{id}': { ...within('id'), get: answers(ref('device')), ...put({ summary: 'Update a device that was created' }) },
  };
  const effects = part({ paths, components: { schemas: { device } } }, 'endpoints') as Effects;
  assert.equal(effects['PUT /devices/{id}']?.does, 'upsert device');
  assert.equal(effects['PUT /phones/{id}']?.does, 'replace device');
});

test('a thing says of which kind it is in the word of its own example, unless other things have the same one', async () => {
  const kind = (example: string) => ({ type: 'string', example });
  const thing = (type: string) => object({ id: string, type: kind(type), name: string }, ['id']);
  const paths = Object.fromEntries(
    ['contacts', 'tasks', 'lists'].flatMap((name) => [
      [`/${name}`, { post: { ...sends(object({ name: string, type: string })), ...answers(ref(name), {}, '201') } }],
      [`/${name}/{id}`, { ...within('id'), get: answers(ref(name)) }],
    ]),
  );
  const shapes = {
    contacts: thing('contact'),
    contact: thing('contact'),
    tasks: thing('task'),
    lists: thing('task'),
    task: thing('task'),
  };
  const named = Object.fromEntries(Object.entries(shapes));
  await standIn(paths, named, async (ask) => {
    assert.equal((await ask('POST', '/contacts', { name: 'a' })).json.type, 'contact');
    assert.equal((await ask('POST', '/lists', { name: 'a' })).json.type, 'lists');
  });
});

test('a search by POST is narrowed by what stands in its query, as terms or by the names of fields; of what is not understood nothing is narrowed', async () => {
  const card = object({ id: string, email: string, size: { type: 'integer' } }, ['id']);
  const paths = {
    '/cards': { post: { ...sends(object({ email: string, size: { type: 'integer' } })), ...answers(ref('card'), {}, '201') } },
    '/cards/{id}': { ...within('id'), get: answers(ref('card')) },
    '/cards/search': {
      post: { ...sends(object({ query: { type: 'object' } })), ...answers(object({ cards: list(ref('card')) })) },
    },
    '/cards/filter': { post: { ...sends(object({ filter: list({}) })), ...answers(object({ cards: list(ref('card')) })) } },
  };
  await standIn(paths, { card }, async (ask) => {
    for (const [at, email] of ['a@x.org', 'b@x.org', 'c@y.org'].entries()) await ask('POST', '/cards', { email, size: at });
    const found = async (query: unknown) =>
      (await ask('POST', '/cards/search', { query })).json.cards.map((one: { email: string }) => one.email[0]).join('');
    assert.equal(await found({ field: 'email', operator: '=', value: 'b@x.org' }), 'b');
    assert.equal(await found({ field: 'email', operator: '~', value: 'x.org' }), 'ab');
    const terms = [
      { field: 'size', operator: '>', value: 0 },
      { field: 'email', operator: '~', value: 'x' },
    ];
    assert.equal(await found({ operator: 'AND', value: terms }), 'b');
    assert.equal(await found({ operator: 'OR', value: terms }), 'abc');
    assert.equal(await found({ filter: { email: { exact: 'c@y.org' } } }), 'c');
    const filtered = async (filter: unknown) =>
      (await ask('POST', '/cards/filter', { filter })).json.cards.map((one: { email: string }) => one.email[0]).join('');
    assert.equal(await filtered(terms), 'b');
    assert.equal(await filtered([{ op: 'or', items: terms }]), 'abc');
    assert.equal(await filtered([{ column: 'email', op: 'beginsWith', values: ['C'] }]), 'c');
    assert.equal(await filtered(['email', { email: 'c@y.org' }]), 'abc');
    assert.equal(await found({ field: 'unheard_of', operator: '=', value: 'x' }), 'abc');
    assert.equal(await found({ field: 'email', operator: 'resembles', value: 'x' }), 'abc');
  });
});

test('what the query of a creation says is said of the new thing, and a file that is sent says its name and size', async () => {
  const hook = object({ id: string, siteId: string, name: string, page: string }, ['id']);
  const file = object({ id: string, filename: string, bytes: { type: 'integer' }, title: string }, ['id']);
  const query = (...names: string[]) => names.map((name) => ({ name, in: 'query', schema: string }));
  const form = { 'multipart/form-data': { schema: object({ file: { type: 'string', format: 'binary' }, title: string }) } };
  const paths = {
    '/hooks': {
      post: {
        parameters: query('site_id', 'name', 'verbose'),
        ...sends(object({ page: string, name: string })),
        ...answers(ref('hook'), {}, '201'),
      },
    },
    '/hooks/{id}': { ...within('id'), get: answers(ref('hook')) },
    '/files': { post: { requestBody: { content: form }, ...answers(ref('file'), {}, '201') } },
    '/files/{id}': { ...within('id'), get: answers(ref('file')) },
  };
  await standIn(paths, { hook, file }, async (ask) => {
    const { json: made } = await ask('POST', '/hooks?site_id=s1&name=query&verbose=yes', { name: 'body' });
    assert.deepEqual((await ask('GET', `/hooks/${made.id}`)).json, { id: made.id, siteId: 's1', name: 'body' });
  });
  const service = await serve(take({ paths, components: { schemas: { hook, file } } }), { sample: true });
  const body = new FormData();
  body.set('file', new Blob(['four']), 'paper.txt');
  body.set('title', 'Paper');
  const response = await service.fetch(new Request('http://127.0.0.1/files', { method: 'POST', body }));
  const { id: _id, ...told } = (await response.json()) as Record<string, unknown>;
  assert.deepEqual(told, { filename: 'paper.txt', bytes: 4, title: 'Paper' });
  await service.close();
});

test('a new thing stands in the first state that is listed anywhere, has nothing bound to it, and the secret that only its making tells', async () => {
  const key = object(
    { sid: string, name: string, review_status: { enum: ['UNSEEN', 'SEEN'] }, state: string, group_ids: list(string) },
    ['sid'],
  );
  const paths = {
    '/keys': {
      post: {
        ...sends(object({ name: string, review_status: { enum: ['UNSEEN', 'SEEN'] }, state: { enum: ['open', 'closed'] } })),
        ...answers(object({ sid: string, name: string, secret: string }, ['sid']), {}, '201'),
      },
    },
    '/keys/{sid}': { ...within('sid'), get: answers(ref('key')) },
  };
  await standIn(paths, { key }, async (ask) => {
    const { json: made } = await ask('POST', '/keys', { name: 'n' });
    assert.equal(typeof made.secret, 'string');
    const { json: read } = await ask('GET', `/keys/${made.sid}`);
    assert.deepEqual(read, { sid: made.sid, name: 'n', review_status: 'UNSEEN', state: 'open', group_ids: [] });
  });
});

test('an answer calls fields as it writes them, and identifiers are as the paths that name them ask for', async () => {
  const template = object({ TemplateID: { type: 'integer' }, Name: string }, ['TemplateID']);
  const page = object({ id: string, title: string }, ['id']);
  const named = { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }] };
  const paths = {
    '/templates': {
      post: { ...sends(object({ Name: string })), ...answers(object({ TemplateId: { type: 'number' }, Name: string })) },
    },
    '/templates/{templateId}': { ...within('templateId'), get: answers(ref('template')) },
    '/pages': { post: { ...sends(object({ title: string })), ...answers(ref('page'), {}, '201') } },
    '/pages/{id}': { ...named, get: answers(ref('page')) },
  };
  await standIn(paths, { template, page }, async (ask) => {
    const { json: made } = await ask('POST', '/templates', { Name: 'n' });
    assert.equal(typeof made.TemplateId, 'number');
    assert.equal((await ask('GET', `/templates/${made.TemplateId}`)).json.TemplateID, made.TemplateId);
    const { json: of } = await ask('POST', '/pages', { title: 't' });
    assert.match(of.id, /^[\da-f]{8}-[\da-f]{4}-/);
    assert.equal((await ask('GET', `/pages/${of.id}`)).json.title, 't');
  });
});

test('a member of an answer has its default, also where the shape of the answer has a name', async () => {
  const page = object({ object: { type: 'string', default: 'list' }, data: list(object({ code: string })) });
  await standIn({ '/codes': { get: answers(ref('page')) } }, { page }, async (ask) => {
    assert.equal((await ask('GET', '/codes')).json.object, 'list');
  });
});

test('whoever logs in shows no credential yet; what merely takes a password does, and schemes that are described are asked for where no operation speaks of any', () => {
  const scheme = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } };
  const takesPassword = sends(object({ email: string, password: string }));
  const post = (operationId: string, more: object) => ({ post: { operationId, ...more, ...answers(string) } });
  const paths = {
    '/auth/login': post('login', takesPassword),
    '/users': post('makeUser', takesPassword),
    '/sessions/login': post('loginByCode', sends(object({ code: string }))),
    '/xrpc/server.createSession': post('begin', takesPassword),
    '/admin/login': post('loginAsAdmin', { ...takesPassword, security: [{ key: [] }] }),
  };
  const publicOf = (source: object) =>
    (part({ paths, components: scheme, ...source }, 'authentication') as { readonly public?: readonly string[] }).public;
  assert.deepEqual(publicOf({ security: [{ key: [] }] }), ['login', 'begin']);
  assert.deepEqual(publicOf({}), ['login', 'makeUser', 'loginByCode', 'begin']);
  const { '/admin/login': _asking, ...silent } = paths;
  assert.equal(publicOf({ paths: silent }), undefined);
});
