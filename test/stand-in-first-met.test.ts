import assert from 'node:assert/strict';
import { test } from 'node:test';
import { part } from './import/source.ts';
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
