import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentAs, takenOf } from '../src/parts/answers.ts';
import { part } from './import/source.ts';
import { answers, integer, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** Styles of interfaces that most descriptions do not have, each with a document of its own. */

test('things of the path `/` are made, listed, read and deleted there', async () => {
  const app = object({ id: string, name: string });
  const paths = {
    '/': {
      get: answers(object({ apps: list(ref('app')) })),
      post: { ...sends(object({ name: string })), ...answers(ref('app')) },
    },
    '/{id}': { ...within('id'), get: answers(ref('app')), delete: { responses: { 204: { description: 'Gone.' } } } },
  };
  await standIn(paths, { app }, async (ask) => {
    const { json: made } = await ask('POST', '/', { name: 'Left' });
    assert.equal(made.name, 'Left');
    assert.equal((await ask('GET', `/${made.id}`)).json.name, 'Left');
    assert.deepEqual(
      (await ask('GET', '/')).json.apps.map(({ id }: { id: string }) => id),
      [made.id],
    );
    await ask('DELETE', `/${made.id}`);
    assert.equal((await ask('GET', `/${made.id}`)).status, 404);
  });
});

test('what is asked for below any of the addresses that a description states is found', async () => {
  const vault = object({ id: string, name: string });
  const paths = {
    '/vaults': { get: answers(list(ref('vault'))), post: { ...sends(object({ name: string })), ...answers(ref('vault')) } },
    '/vaults/{id}': { ...within('id'), get: answers(ref('vault')) },
  };
  const servers = [{ url: 'http://vaults.example' }, { url: 'http://localhost:8080/v1' }];
  const stood = async (ask: Parameters<Parameters<typeof standIn>[2]>[0]) => {
    const { json: made } = await ask('POST', '/v1/vaults', { name: 'Left' });
    assert.equal(made.name, 'Left');
    assert.equal((await ask('GET', `/v1/vaults/${made.id}`)).json.name, 'Left');
    assert.equal((await ask('GET', `/vaults/${made.id}`)).json.name, 'Left');
    assert.equal((await ask('GET', `/v2/vaults/${made.id}`)).status, 404);
  };
  await standIn(paths, { vault }, stood, { servers });
});

test('a POST on one thing that is called its creation makes it under that name, and no other does', async () => {
  const repository = object({ uuid: string, about: string });
  const issue = object({ id: string, title: string });
  const sent = sends(ref('repository'));
  const at = (summary: string) => ({
    '/repositories': { get: answers(object({ values: list(ref('repository')) })) },
    '/repositories/{owner}/{slug}/issues': {
      ...within('owner', 'slug'),
      get: answers(list(ref('issue'))),
      post: { ...sends(object({ title: string })), ...answers(ref('issue')) },
    },
    '/repositories/{owner}': { ...within('owner'), get: answers(object({ values: list(ref('repository')) })) },
    '/repositories/{owner}/{slug}': {
      ...within('owner', 'slug'),
      get: answers(ref('repository')),
      post: { summary, ...sent, ...answers(ref('repository')) },
      delete: { responses: { 204: { description: 'Gone.' } } },
      put: { ...sent, ...answers(ref('repository')) },
    },
  });
  await standIn(at('Create a repository'), { repository, issue }, async (ask) => {
    assert.equal((await ask('POST', '/repositories/ann/left', { about: 'one' })).json.about, 'one');
    assert.deepEqual((await ask('GET', '/repositories/ann/left')).json, { uuid: 'left', about: 'one' });
    assert.equal((await ask('POST', '/repositories/ann/left/issues', { title: 'Broken' })).json.title, 'Broken');
    await ask('DELETE', '/repositories/ann/left');
    assert.equal((await ask('GET', '/repositories/ann/left')).status, 404);
  });
  type Endpoints = Readonly<Record<string, { readonly does?: string }>>;
  const doesOf = (summary: string) => {
    // The cast holds: it is what endpoints are written as.
    const endpoints = part({ paths: at(summary), components: { schemas: { repository, issue } } }, 'endpoints') as Endpoints;
    return ['POST', 'PUT'].map((method) => endpoints[`${method} /repositories/{owner}/{slug}`]?.does);
  };
  assert.deepEqual(doesOf('Create a new repository in a place'), ['upsert repository', 'replace repository']);
  for (const summary of ['Add watchers to a repository', 'Change a repository', 'Create a fork of a repository'])
    assert.deepEqual(doesOf(summary), [undefined, 'upsert repository'], summary);
});

test('things of two paths that end in one word are the same where they are written out alike, and others are not', async () => {
  const group = object({ id: integer, name: string, title: string, open: string, size: string });
  const other = object({ id: integer, owner: string, colour: string, weight: string, height: string });
  const paths = (shown: typeof group) => ({
    '/admin/groups': {
      post: { ...sends(object({ name: string, title: string })), ...answers(group) },
      get: answers(list(group)),
    },
    '/admin/groups/{id}': { ...within('id'), get: answers(group), delete: { responses: { 204: { description: 'Gone.' } } } },
    '/groups': { get: answers(list(shown)) },
    '/groups/{id}': { ...within('id'), get: answers(shown) },
  });
  await standIn(paths(object({ id: integer, name: string, title: string, open: string, members: string })), {}, async (ask) => {
    const { json: made } = await ask('POST', '/admin/groups', { name: 'bees', title: 'Keepers' });
    assert.deepEqual((await ask('GET', `/groups/${made.id}`)).json.title, 'Keepers');
    await ask('DELETE', `/admin/groups/${made.id}`);
    assert.equal((await ask('GET', `/groups/${made.id}`)).status, 404);
  });
  const resources = part({ paths: paths(other) }, 'resources') as Record<string, unknown>;
  assert.deepEqual(Object.keys(resources), ['group', 'group_2']);
});

test('a member that is called like the thing holds it, also where another answer shows more of it, and no other does', async () => {
  const listed = object({ id: string, name: string, color: string, slug: string, position: integer, about: string });
  const shown = object({ id: string, name: string, color: string, text: string, email: string, slug: string });
  const sent = sends(object({ name: string, color: string }));
  const paths = (member: string) => ({
    '/categories': {
      get: answers(object({ category_list: object({ categories: list(listed) }) })),
      post: { ...sent, ...answers(object({ [member]: shown })) },
    },
    '/categories/{id}': { ...within('id'), get: answers(listed), put: { ...sent, ...answers(object({ [member]: shown })) } },
  });
  await standIn(paths('category'), {}, async (ask) => {
    const { json: made } = await ask('POST', '/categories', { name: 'Left', color: 'red' });
    assert.deepEqual([made.category.name, made.category.color], ['Left', 'red']);
    assert.equal((await ask('GET', `/categories/${made.category.id}`)).json.name, 'Left');
  });
  const { data } = (
    part({ paths: paths('parent') }, 'endpoints') as Record<string, { response: Record<string, { data?: unknown }> }>
  )['POST /categories']!.response['200']!;
  assert.equal(data, undefined);
});

test('what is sent bare stands in the map of the thing that has such members, and is changed there', async () => {
  const user = object({ id: string, type: string, attributes: object({ nick: string, role: string, type: string }) });
  const sent = object({ nick: string, type: string });
  const paths = {
    '/users': {
      get: answers(object({ data: list(ref('user')) })),
      post: { ...sends(sent), ...answers(object({ data: ref('user') })) },
    },
    '/users/{id}': {
      ...within('id'),
      get: answers(object({ data: ref('user') })),
      patch: { ...sends(object({ nick: string })), ...answers(object({ data: ref('user') })) },
    },
  };
  await standIn(paths, { user }, async (ask) => {
    const { json: made } = await ask('POST', '/users', { nick: 'ann', type: 'person' });
    assert.deepEqual([made.data.attributes.nick, made.data.attributes.type], ['ann', 'person']);
    const { json: changed } = await ask('PATCH', `/users/${made.data.id}`, { nick: 'bea' });
    assert.deepEqual([changed.data.attributes.nick, changed.data.attributes.type], ['bea', 'person']);
    assert.deepEqual((await ask('GET', `/users/${made.data.id}`)).json, changed);
  });
});

test('a field of the thing itself is no member of a map that it has besides', async () => {
  const job = object({ id: string, name: string, owner: string, config: object({ name: string, size: string }) });
  const paths = {
    '/jobs': { post: { ...sends(object({ name: string, owner: string })), ...answers(ref('job')) } },
    '/jobs/{id}': { ...within('id'), get: answers(ref('job')) },
  };
  await standIn(paths, { job }, async (ask) => {
    const { json: made } = await ask('POST', '/jobs', { name: 'Sweep', owner: 'ann' });
    assert.deepEqual([made.name, made.owner], ['Sweep', 'ann']);
    assert.notEqual(made.config?.name, 'Sweep');
  });
});

test('a way into a field that is a map leads there and back', () => {
  const takes = { path: [], fields: { title: 'attributes.title', Kind: 'kind' } };
  const sent = { title: 'One', Kind: 'a', size: 3 };
  const fields = { attributes: { title: 'One' }, kind: 'a', size: 3 };
  assert.deepEqual(JSON.parse(JSON.stringify(takenOf({ takes }, sent))), fields);
  assert.deepEqual(JSON.parse(JSON.stringify(sentAs<unknown>({ takes }, fields))), { size: 3, title: 'One', Kind: 'a' });
});

test('a search by GET below a collection lists its things, narrowed by the query', async () => {
  const folder = object({ id: string, name: string });
  const found = answers(object({ results: list(ref('folder')) }));
  const query = ['name', 'limit'].map((name) => ({ name, in: 'query', schema: string }));
  const paths = {
    '/folders': { post: { ...sends(object({ name: string })), ...answers(ref('folder')) } },
    '/folders/search': { get: { parameters: query, ...found } },
    '/folders/{folder}': { ...within('folder'), get: answers(ref('folder')) },
  };
  await standIn(paths, { folder }, async (ask) => {
    for (const name of ['a', 'b']) await ask('POST', '/folders', { name });
    const names = async (path: string) => (await ask('GET', path)).json.results.map(({ name }: { name: string }) => name);
    assert.deepEqual(await names('/folders/search'), ['a', 'b']);
    assert.deepEqual(await names('/folders/search?name=b'), ['b']);
  });
});

test('procedures by POST are of the thing that the one member names which they ask for, whatever key all of them ask for', async () => {
  const post = (request: object, answer: object) => ({
    post: { ...sends(object({ key: string, ...request })), ...answers(answer) },
  });
  const card = { name: string, text: string, made_at: string };
  const route = { id: { type: 'integer' }, pattern: string };
  const paths = {
    '/cards/add.json': post({ name: string, text: string }, object(card)),
    '/cards/info.json': post({ name: string }, object(card)),
    '/cards/update.json': post({ name: string, text: string }, object(card)),
    '/cards/list.json': post({}, list(object(card))),
    '/cards/delete.json': post({ name: string }, object(card)),
    '/mail/add-route': post({ pattern: string }, object(route)),
    '/mail/routes': post({}, list(object(route))),
    '/mail/delete-route': post({ id: { type: 'integer' } }, object(route)),
    // What is given to a user, and answered with the user, is no thing of its own.
    '/users/add-role': post({ id: string, role: string }, ref('user')),
    '/users/remove-role': post({ id: string }, ref('user')),
    '/users/{id}': { ...within('id'), get: answers(ref('user')) },
  };
  await standIn(paths, { user: object({ id: string, role: string }) }, async (ask) => {
    const key = 'k';
    const told = async (path: string, body: object) => ask('POST', path, { key, ...body });
    assert.equal((await told('/cards/add.json', { name: 'one', text: 'a' })).json.text, 'a');
    assert.equal((await told('/cards/info.json', { name: 'one' })).json.text, 'a');
    await told('/cards/update.json', { name: 'one', text: 'b' });
    assert.deepEqual(
      (await told('/cards/list.json', {})).json.map(({ text }: { text: string }) => text),
      ['b'],
    );
    assert.equal((await told('/cards/delete.json', { name: 'one' })).json.name, 'one');
    assert.equal((await told('/cards/info.json', { name: 'one' })).status, 404);
    const { json: made } = await told('/mail/add-route', { pattern: 'a*' });
    const patterns = async () => (await told('/mail/routes', {})).json.map(({ pattern }: { pattern: string }) => pattern);
    assert.deepEqual(await patterns(), ['a*']);
    await told('/mail/delete-route', { id: made.id });
    assert.deepEqual(await patterns(), []);
    await told('/users/remove-role', { id: 'u1' });
    assert.equal((await ask('GET', '/users/u1')).status, 200);
  });
});

test('of several things in an answer the one is shown that its path is called like', async () => {
  const zone = object({ id: string, name: string });
  const change = object({ id: string, state: string });
  const shown = object({
    change: { allOf: [ref('change'), { description: 'What was done.' }] },
    zone: { allOf: [ref('zone'), { description: 'What it was done to.' }] },
  });
  const paths = {
    '/zones': {
      get: answers(object({ zones: list(ref('zone')) })),
      post: { ...sends(object({ name: string })), ...answers(shown) },
    },
    '/zones/{id}': { ...within('id'), get: answers(shown) },
  };
  await standIn(paths, { zone, change }, async (ask) => {
    const { json: made } = await ask('POST', '/zones', { name: 'north' });
    assert.equal(made.zone.name, 'north');
    assert.equal((await ask('GET', `/zones/${made.zone.id}`)).json.zone.name, 'north');
    assert.deepEqual(
      (await ask('GET', '/zones')).json.zones.map(({ name }: { name: string }) => name),
      ['north'],
    );
  });
});

test('a new identifier is no longer than it may be', async () => {
  const check = object({ id: { type: 'string', maxLength: 32 }, name: string });
  const paths = {
    '/measurements': { post: { ...sends(object({ name: string })), ...answers(ref('measurement')) } },
    '/measurements/{id}': { ...within('id'), get: answers(ref('measurement')) },
  };
  await standIn(paths, { measurement: check }, async (ask) => {
    const { json: made } = await ask('POST', '/measurements', { name: 'one' });
    assert.match(made.id, /^measurement_.{20}$/);
    assert.equal((await ask('GET', `/measurements/${made.id}`)).json.name, 'one');
  });
});
