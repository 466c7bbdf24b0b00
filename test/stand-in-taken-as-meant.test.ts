import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { take } from './import/source.ts';
import { answers, integer, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What descriptions say otherwise than their services do, and their clients send. */

test('a thing in a body whose shape answers show too need not be sent with the identifier that it has to have', async () => {
  const fields = list(object({ id: string, label: string }, ['id']));
  const item = object({ id: string, title: string, fields }, ['title']);
  const paths = {
    '/items': { post: { ...sends(ref('item')), ...answers(ref('item')) } },
    '/items/{id}': { ...within('id'), get: answers(ref('item')) },
    '/orders': { post: { ...sends(object({ fields })), ...answers(object({ total: integer })) } },
  };
  await standIn(paths, { item }, async (ask) => {
    const { json: made } = await ask('POST', '/items', { title: 'Login', fields: [{ label: 'user' }] });
    assert.equal(made.fields[0].label, 'user');
    assert.equal(typeof made.fields[0].id, 'string');
    assert.deepEqual((await ask('GET', `/items/${made.id}`)).json.fields, made.fields);
    assert.equal((await ask('POST', '/items', { title: 'Login', fields: [{}] })).status, 400);
    assert.equal((await ask('POST', '/items', { fields: [{ label: 'user' }] })).status, 400);
    assert.equal((await ask('POST', '/orders', { fields: [{ label: 'user' }] })).status, 400);
  });
});

test('one thing is taken where a list of such is described, and two that are sent otherwise are two', async () => {
  const post = object({ id: string, text: string });
  const paths = {
    '/posts': { post: { ...sends(list(object({ text: string }))), ...answers(ref('post')) } },
    '/posts/{id}': { ...within('id'), get: answers(ref('post')) },
  };
  await standIn(paths, { post }, async (ask) => {
    const { json: one } = await ask('POST', '/posts', { text: 'One' });
    const { json: other } = await ask('POST', '/posts', { text: 'Other' });
    assert.deepEqual([one.text, other.text], ['One', 'Other']);
    assert.notEqual(one.id, other.id);
    assert.equal((await ask('GET', `/posts/${one.id}`)).json.text, 'One');
    assert.equal((await ask('POST', '/posts', { text: 7 })).status, 400);
  });
});

test('a body that is described by its members is read from JSON, whatever its media type is called', async () => {
  const filter = object({ id: string, phrase: string });
  const odd = (shape: object) => ({ requestBody: { required: true, content: { 'application/form-data': { schema: shape } } } });
  const paths = {
    '/filters': { post: { ...odd(object({ phrase: string })), ...answers(ref('filter')) } },
    '/filters/{id}': { ...within('id'), get: answers(ref('filter')) },
    '/pictures': { post: { ...odd({ type: 'string', format: 'binary' }), ...answers(ref('filter')) } },
  };
  await standIn(paths, { filter }, async (ask) => {
    const { json: made } = await ask('POST', '/filters', { phrase: 'spoiler' });
    assert.equal((await ask('GET', `/filters/${made.id}`)).json.phrase, 'spoiler');
    assert.equal((await ask('POST', '/pictures', { phrase: 'spoiler' })).status, 415);
  });
});

test('who a message is from asks for no page of an answer of which only the shape is known', async () => {
  const sent = object({ from: string, to: list(string), text: string });
  const paths = { '/messages': { post: { ...sends(sent), ...answers(object({ to: list(string), text: string })) } } };
  await standIn(paths, {}, async (ask) => {
    const { json } = await ask('POST', '/messages', { from: '+15551113333', to: ['+15552223333'], text: 'Hello' });
    assert.deepEqual(json, { to: ['+15552223333'], text: 'Hello' });
  });
});

test('a thing that an answer writes out in other types than another answer does is the one that was made', async () => {
  const shown = { id: integer, name: string, color: string, note: string };
  const paths = {
    '/badges': {
      get: answers(object({ badges: list(object({ ...shown, rank: integer })) })),
      post: {
        ...sends(object({ name: string, color: string })),
        ...answers(
          object({ badge: object({ ...shown, rank: string }, ['rank']), kinds: list(object({ id: integer })) }, [
            'badge',
            'kinds',
          ]),
        ),
      },
    },
    '/badges/{id}': { ...within('id'), delete: { responses: { 204: { description: 'Gone.' } } } },
  };
  await standIn(paths, {}, async (ask) => {
    const { json } = await ask('POST', '/badges', { name: 'Thumb', color: 'green' });
    const { json: listed } = await ask('GET', '/badges');
    assert.deepEqual([json.badge.name, json.badge.color], ['Thumb', 'green']);
    assert.equal(listed.badges.at(-1).id, json.badge.id);
  });
});

test('an act that answers with the thing written out changes it, and one that answers with another thing does not', async () => {
  const folder = object({ id: string, name: string, parent_id: string });
  const acted = (shape: object) => ({ ...within('id'), post: { ...sends(object({ name: string })), ...answers(shape) } });
  const paths = {
    '/folders': { get: answers(list(folder)), post: { ...sends(object({ name: string })), ...answers(folder) } },
    '/folders/{id}': { ...within('id'), get: answers(folder) },
    '/folders/{id}/rename': acted(folder),
    '/folders/{id}/report': acted(object({ id: string, name: string, pages: integer, url: string })),
  };
  await standIn(paths, {}, async (ask) => {
    const { json: made } = await ask('POST', '/folders', { name: 'Contracts' });
    await ask('POST', `/folders/${made.id}/report`, { name: 'Monthly' });
    assert.equal((await ask('GET', `/folders/${made.id}`)).json.name, 'Contracts');
    const { json: renamed } = await ask('POST', `/folders/${made.id}/rename`, { name: 'Agreements' });
    assert.deepEqual([renamed.id, renamed.name], [made.id, 'Agreements']);
    assert.equal((await ask('GET', `/folders/${made.id}`)).json.name, 'Agreements');
  });
});

test('what was just made counts nothing', async () => {
  const topic = object({ id: string, title: string, reply_count: integer, account: integer });
  const paths = {
    '/topics': { post: { ...sends(object({ title: string })), ...answers(ref('topic')) } },
    '/topics/{id}': { ...within('id'), get: answers(ref('topic')) },
  };
  await standIn(paths, { topic }, async (ask) => {
    const { json } = await ask('POST', '/topics', { title: 'Apples' });
    assert.equal(json.reply_count, 0);
    assert.notEqual(json.account, 0);
  });
});

test('a list of maps of which only an example says more, below the owner of what it lists, is of the things that it shows', async () => {
  const shown = { id: 'N_24329156', name: 'Main', zone: 'Europe', tags: 'a b', kind: 'wired' };
  const bare = { type: 'object' };
  const paths = {
    '/networks/{id}': { ...within('id'), get: answers(bare, { example: shown }) },
    '/owners/{owner}/networks': {
      ...within('owner'),
      get: answers(list(bare), { example: [shown] }),
      post: { ...sends(object({ name: string, zone: string })), ...answers(bare, { example: shown }, '201') },
    },
  };
  await standIn(paths, {}, async (ask) => {
    const made = [];
    for (const name of ['One', 'Two']) made.push((await ask('POST', '/owners/o1/networks', { name, zone: 'Asia' })).json);
    assert.notEqual(made[0].id, made[1].id);
    assert.equal((await ask('GET', `/networks/${made[0].id}`)).json.name, 'One');
    const { json: listed } = await ask('GET', '/owners/o1/networks');
    assert.deepEqual(
      listed.map(({ name }: { name: string }) => name),
      ['One', 'Two'],
    );
  });
});

test('pages are asked for by the number of rows before them in other words too, beside one for their size', async () => {
  const user = object({ id: string, name: string });
  const asks = (...names: string[]) => ({ parameters: names.map((name) => ({ name, in: 'query', schema: integer })) });
  const paths = {
    '/users': {
      get: { ...asks('first', 'max'), ...answers(list(ref('user'))) },
      post: { ...sends(object({ name: string })), ...answers(ref('user')) },
    },
    '/users/{id}': { ...within('id'), get: answers(ref('user')) },
  };
  await standIn(paths, { user }, async (ask) => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await ask('POST', '/users', { name });
    const namesAt = async (path: string) => (await ask('GET', path)).json.map(({ name }: { name: string }) => name);
    assert.deepEqual(await namesAt('/users?first=2&max=2'), ['c', 'd']);
    assert.deepEqual(await namesAt('/users?first=4&max=2'), ['e']);
    assert.deepEqual(await namesAt('/users?max=3'), ['a', 'b', 'c']);
  });
});

test('what stands below a thing that holds others, of a kind that nobody has made, is there until one is made', async () => {
  const realm = object({ id: string, name: string });
  const user = object({ id: string, email: string });
  const paths = {
    '/realms': { post: { ...sends(object({ name: string })), ...answers(ref('realm')) } },
    '/realms/{id}': { ...within('id'), get: answers(ref('realm')) },
    '/realms/{id}/count': { ...within('id'), get: answers(object({ users: integer })) },
    '/realms/{id}/users': { ...within('id'), post: { ...sends(object({ email: string })), ...answers(ref('user')) } },
    '/realms/{id}/users/{user}': { ...within('id', 'user'), get: answers(ref('user')) },
    '/realms/{id}/users/{user}/text': { ...within('id', 'user'), get: answers(object({ text: string })) },
  };
  await standIn(paths, { realm, user }, async (ask) => {
    // A user holds nothing: of one that is not there nothing is told.
    assert.equal((await ask('GET', '/realms/master/users/nobody')).status, 404);
    assert.equal((await ask('GET', '/realms/master/users/nobody/text')).status, 404);
    const { json: ada } = await ask('POST', '/realms/master/users', { email: 'ada@example.com' });
    assert.equal((await ask('GET', `/realms/master/users/${ada.id}/text`)).status, 200);
    assert.equal((await ask('GET', '/realms/master')).status, 404);
    assert.equal((await ask('GET', '/realms/master/count')).status, 200);
    const { json: made } = await ask('POST', '/realms', { name: 'own' });
    assert.equal((await ask('GET', `/realms/${made.id}/count`)).status, 200);
    assert.equal((await ask('GET', '/realms/master/count')).status, 404);
  });
});

test('what is sent to a list of which only the shapes are known is read, changed and taken out below it', async () => {
  const mapper = object({ id: string, name: string, protocol: string });
  const sent = sends(object({ name: string, protocol: string }));
  // The owner is told by what a mapper is told by too, so that no rule says what these operations do.
  const at = '/{kind}/{id}/mappers';
  const paths = {
    [at]: {
      ...within('kind', 'id'),
      get: answers(list(mapper)),
      post: { ...sent, responses: { 201: { description: 'Made.' } } },
    },
    [`${at}/{mapper}`]: {
      ...within('kind', 'id', 'mapper'),
      get: answers(mapper),
      put: { ...sent, ...answers(mapper) },
      delete: { responses: { 204: { description: 'Gone.' } } },
    },
  };
  await standIn(paths, {}, async (ask) => {
    const url = '/scopes/s1/mappers';
    assert.equal((await ask('GET', `${url}/m1`)).status, 200);
    for (const name of ['phone', 'mail']) assert.equal((await ask('POST', url, { name, protocol: 'oidc' })).status, 201);
    const [first, second] = (await ask('GET', url)).json;
    assert.deepEqual([first.name, second.name], ['phone', 'mail']);
    assert.notEqual(first.id, second.id);
    assert.equal((await ask('GET', `${url}/${first.id}`)).json.name, 'phone');
    await ask('PUT', `${url}/${first.id}`, { name: 'mobile' });
    assert.equal((await ask('GET', url)).json[0].name, 'mobile');
    await ask('DELETE', `${url}/${first.id}`);
    assert.equal((await ask('GET', `${url}/${first.id}`)).status, 404);
    await ask('DELETE', `${url}/${second.id}`);
    assert.deepEqual((await ask('GET', url)).json, []);
    assert.notDeepEqual((await ask('GET', '/scopes/s2/mappers')).json, []);
  });
});

test('an owner that a path calls `id` is no hindrance to what is made and told below it, and what is only listed there stays open', async () => {
  const issue = object({ id: string, title: string });
  const user = object({ id: string, name: string });
  const paths = {
    '/projects/{id}/issues': {
      ...within('id'),
      get: answers(list(ref('issue'))),
      post: { ...sends(object({ title: string })), ...answers(ref('issue'), {}, '201') },
    },
    '/projects/{id}/issues/{issue_id}': { ...within('id', 'issue_id'), get: answers(ref('issue')) },
    '/projects/{id}/members': { ...within('id'), get: answers(list(ref('user'))) },
    '/users/{id}': { ...within('id'), get: answers(ref('user')) },
  };
  const { endpoints } = take({ paths, components: { schemas: { issue, user } } }).tree as Record<string, Record<string, unknown>>;
  const doesAt = (key: string) => (endpoints?.[key] as Record<string, unknown> | undefined)?.does;
  assert.equal(doesAt('POST /projects/{project_id}/issues'), 'create issue');
  assert.equal(doesAt('GET /projects/{project_id}/issues/{issue_id}'), 'read issue');
  assert.equal(doesAt('GET /projects/{id}/members'), undefined);
  await standIn(paths, { issue, user }, async (ask) => {
    const { json: made } = await ask('POST', '/projects/p1/issues', { title: 'Broken' });
    assert.equal((await ask('GET', `/projects/p1/issues/${made.id}`)).json.title, 'Broken');
    assert.equal((await ask('GET', '/projects/p1/issues')).json.length, 1);
    assert.equal((await ask('GET', `/projects/p2/issues/${made.id}`)).status, 404);
  });
});

test('what is made below an owner that is called `id`, and told elsewhere, is made and listed there; acts below one are none of that', async () => {
  const bank = object({ id: { type: 'integer', readOnly: true }, title: string }, ['id']);
  const paths = {
    '/users/{id}/banks': {
      ...within('id'),
      get: answers(list(ref('bank'))),
      post: { ...sends(object({ title: string })), ...answers(ref('bank'), {}, '201') },
    },
    '/banks/{id}': { ...within('id'), get: answers(ref('bank')), delete: { responses: { 204: { description: 'gone' } } } },
  };
  await standIn(paths, { bank }, async (ask) => {
    // The owner is called as the first bank will be.
    const { json: made } = await ask('POST', '/users/1/banks', { title: 'Foo' });
    assert.equal(made.id, 1);
    assert.deepEqual((await ask('GET', '/users/1/banks')).json, [made]);
    assert.deepEqual((await ask('GET', '/users/2/banks')).json, []);
    assert.deepEqual((await ask('GET', '/banks/1')).json, made);
    assert.equal((await ask('DELETE', '/banks/1')).status, 204);
    assert.deepEqual((await ask('GET', '/users/1/banks')).json, []);
  });
});

test('a text that is stated as XML is taken as it is, whatever it is called; what is no media type says nothing', async () => {
  const file = { requestBody: { required: true, content: { 'application/xml': { schema: string } } } };
  const service = await serve(
    take({ paths: { '/files': { put: { ...file, ...answers(object({ size: { type: 'integer' } })) } } } }),
    { sample: true, onFailure: assert.ifError },
  );
  const put = async (type: string, body: string) =>
    (await service.fetch(new Request('http://127.0.0.1/files', { method: 'PUT', headers: { 'content-type': type }, body })))
      .status;
  try {
    assert.equal(await put('application/xml', '<a>one</a>'), 200);
    assert.equal(await put('application/xml', 'no markup'), 200);
    assert.equal(await put('false', 'no markup'), 200);
    assert.equal(await put('application/json', '[["a", "b"]]'), 200);
  } finally {
    await service.close();
  }
});
