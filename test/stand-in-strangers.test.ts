import assert from 'node:assert/strict';
import { test } from 'node:test';
import { part } from './import/source.ts';
import { answers, json, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What descriptions of vendors whom nobody had met leave unsaid, and how their clients call. */

type Effects = Readonly<Record<string, { readonly does?: string }>>;

test('identifiers are known in any case of letters, and by the word of their thing', () => {
  const bounce = object({ ID: string, Email: string });
  const template = object({ TemplateId: { type: 'integer' }, Name: string });
  const plan = object({ name: string, planner_id: string });
  const paths = {
    '/bounces/{bounceid}': { ...within('bounceid'), get: answers(ref('bounce')) },
    '/templates/{templateIdOrAlias}': { ...within('templateIdOrAlias'), get: answers(ref('template')) },
    '/plans/{id}': { ...within('id'), get: answers(ref('plan')) },
  };
  const endpoints = part({ paths, components: { schemas: { bounce, template, plan } } }, 'endpoints') as Effects;
  assert.equal(endpoints['GET /bounces/{bounceid}']?.does, 'read bounce');
  assert.equal(endpoints['GET /templates/{templateIdOrAlias}']?.does, 'read template');
  assert.equal(endpoints['GET /plans/{id}']?.does, undefined);
});

test('a word at the end of a path that says what a method says is as good as none', async () => {
  const box = object({ Id: string, Label: string }, ['Id']);
  const paths = {
    '/boxes/create': {
      post: {
        ...sends(object({ Label: string })),
        ...answers(object({ Id: string, Warnings: list(string) }, ['Id']), {}, '201'),
      },
    },
    '/boxes/json': { get: answers(list(ref('box'))) },
    '/boxes/{id}/json': { ...within('id'), get: answers(ref('box')) },
    '/boxes/{id}/update': { ...within('id'), post: { ...sends(object({ Label: string })), ...answers(ref('box')) } },
    '/boxes/{id}': { ...within('id'), delete: { responses: { 204: { description: 'Gone.' } } } },
    // What is made of files, what has a method of its own besides, and what no path tells apart.
    '/disks/create': { post: { responses: { 200: { description: 'Made.' } } } },
    '/disks/{id}': { ...within('id'), get: answers(ref('box')) },
    '/disks/{id}/info': { ...within('id'), get: answers(string) },
    '/boxes/{id}/view': { ...within('id'), get: answers(object({ Id: string, Width: string })) },
    '/search/all': { get: answers(list(ref('box'))) },
  };
  const endpoints = part({ paths, components: { schemas: { box } } }, 'endpoints') as Effects;
  assert.equal(endpoints['POST /boxes/{id}/update']?.does, 'update box');
  for (const key of ['POST /disks/create', 'GET /disks/{id}/info', 'GET /boxes/{id}/view'])
    assert.equal(endpoints[key]?.does, undefined, key);
  await standIn(paths, { box }, async (ask) => {
    const { json: made } = await ask('POST', '/boxes/create', { Label: 'a' });
    assert.deepEqual((await ask('GET', `/boxes/${made.Id}/json`)).json, { Id: made.Id, Label: 'a' });
    assert.deepEqual((await ask('GET', '/boxes/json')).json, [{ Id: made.Id, Label: 'a' }]);
    assert.equal((await ask('DELETE', `/boxes/${made.Id}`)).status, 204);
    assert.deepEqual((await ask('GET', '/boxes/json')).json, []);
  });
});

test('a path is taken with a slash at its end and in another letter case, with a warning; not with `strict`', async () => {
  const box = object({ id: string }, ['id']);
  const paths = {
    '/inboundRules': { post: { ...sends(object({})), ...answers(ref('box')) }, get: answers(list(ref('box'))) },
    '/inboundRules/{id}': { ...within('id'), get: answers(ref('box')) },
  };
  await standIn(paths, { box }, async (ask) => {
    const { status, json: made, headers } = await ask('POST', '/inboundrules/', {});
    assert.equal(status, 200);
    assert.match(String(headers.get('ninefold-warning')), /path \/inboundrules\/ is not stated/);
    assert.deepEqual((await ask('GET', `//InboundRules/${made.id}/`)).json, made);
    assert.equal((await ask('GET', '/inbound/rules')).status, 404);
  });
  await standIn(paths, { box }, async (ask) => assert.equal((await ask('POST', '/inboundrules/', {})).status, 404), {}, true);
});

test('of a list that may be null an empty one is made', async () => {
  const tags = { type: ['array', 'null'], items: string };
  const box = object({ id: string, tags, note: { type: ['string', 'null'] } }, ['id', 'tags', 'note']);
  const paths = {
    '/boxes': { post: { requestBody: json(object({ tags })), ...answers(ref('box')) } },
    '/boxes/{id}': { ...within('id'), get: answers(ref('box')) },
  };
  await standIn(
    paths,
    { box },
    async (ask) => {
      const { json: made } = await ask('POST', '/boxes', {});
      assert.deepEqual([made.tags, made.note], [[], null]);
      assert.equal((await ask('POST', '/boxes', { tags: null })).json.tags, null);
    },
    { openapi: '3.1.0' },
  );
});

test('a page is asked for by usual names that the document does not have, and by the identifier of a row in the place of a cursor', async () => {
  const box = object({ id: string, label: string }, ['id']);
  const query = (...names: string[]) => ({ parameters: names.map((name) => ({ name, in: 'query', schema: string })) });
  const paths = {
    '/boxes': {
      post: { ...sends(object({})), ...answers(ref('box')) },
      get: { ...query('per_page'), ...answers(list(ref('box'))) },
    },
    '/boxes/{id}': { ...within('id'), get: answers(ref('box')) },
    '/crates': {
      post: { ...sends(object({})), ...answers(ref('crate')) },
      get: { ...query('after', 'limit'), ...answers(object({ crates: list(ref('crate')), after: string })) },
    },
    '/crates/{id}': { ...within('id'), get: answers(ref('crate')) },
  };
  await standIn(paths, { box, crate: box }, async (ask) => {
    const ids: string[] = [];
    for (let at = 0; at < 3; at++) ids.push((await ask('POST', '/boxes', {})).json.id);
    const page = async (asked: string) => (await ask('GET', `/boxes?${asked}`)).json.map(({ id }: { id: string }) => id);
    assert.deepEqual(await page('per_page=2'), ids.slice(0, 2));
    assert.deepEqual(await page('per_page=2&page=2'), ids.slice(2));
    assert.deepEqual(await page('per_page=2&page=3'), []);
    const { json: one } = await ask('POST', '/crates', {});
    const { json: other } = await ask('POST', '/crates', {});
    assert.deepEqual((await ask('GET', `/crates?after=${one.id}`)).json.crates, [other]);
    assert.equal((await ask('GET', '/crates?after=nobody')).status, 400);
  });
});

test('what nothing makes is there when it is asked for, until the list of it was shown', async () => {
  const box = object({ id: string }, ['id']);
  const paths = {
    '/boxes': { get: answers(list(ref('box'))) },
    '/boxes/{id}': { ...within('id'), get: answers(ref('box')) },
  };
  await standIn(paths, { box }, async (ask) => {
    assert.equal((await ask('GET', '/boxes/mine')).status, 200);
    const { json: all } = await ask('GET', '/boxes');
    assert.equal((await ask('GET', `/boxes/${all[0].id}`)).status, 200);
    assert.equal((await ask('GET', '/boxes/mine')).status, 200);
    assert.equal((await ask('GET', '/boxes/yours')).status, 404);
    assert.equal((await ask('GET', '/boxes/me')).status, 200);
  });
});

test('a thing is found by what people call it, copied with what is sent, and its keys are made anew by an act that is called so', async () => {
  const box = object({ id: { type: 'integer' }, Name: string, api_key: { ...string, example: 'bx-12ab' }, note: string }, [
    'id',
    'api_key',
  ]);
  const made = object({ Name: string, note: string });
  const paths = {
    '/boxes': { post: { ...sends(made), ...answers(ref('box')) } },
    '/boxes/{id}': {
      ...within('id'),
      get: answers(ref('box')),
      post: { summary: 'Duplicate a box', ...sends(made), ...answers(ref('box'), {}, '201') },
    },
    '/boxes/{id}/reset-key': { ...within('id'), post: answers(ref('box')) },
    '/boxes/{id}/paint': { ...within('id'), post: answers(ref('box')) },
  };
  await standIn(paths, { box }, async (ask) => {
    const { json: one } = await ask('POST', '/boxes', { Name: 'a', note: 'b' });
    assert.deepEqual((await ask('GET', '/boxes/a')).json, one);
    assert.equal((await ask('GET', '/boxes/b')).status, 404);
    const { json: other } = await ask('POST', `/boxes/${one.id}`, { Name: 'c' });
    assert.deepEqual([other.Name, other.note, other.id === one.id], ['c', 'b', false]);
    assert.equal((await ask('POST', `/boxes/${one.id}/paint`)).json.api_key, one.api_key);
    const { json: renewed } = await ask('POST', `/boxes/${one.id}/reset-key`);
    assert.match(renewed.api_key, /^bx-\d\d[a-z][a-z]$/);
    assert.notEqual(renewed.api_key, one.api_key);
    assert.equal((await ask('GET', `/boxes/${one.id}`)).json.api_key, renewed.api_key);
  });
});

test('what is wrong with a request is 422 where the endpoint has that and not 400, and errors that nothing is said of have the usual members', async () => {
  const box = object({ id: string, size: { type: 'integer' } }, ['id']);
  const { responses } = answers(ref('box')) as { responses: object };
  const paths = {
    '/boxes': {
      post: {
        ...sends(object({ size: { type: 'integer' } }, ['size'])),
        responses: { ...responses, 422: { description: 'Wrong.' } },
      },
    },
    '/boxes/{id}': { ...within('id'), get: answers(ref('box')) },
  };
  await standIn(paths, { box }, async (ask) => {
    assert.equal((await ask('POST', '/boxes', {})).status, 422);
    const { status, json: missing } = await ask('GET', '/boxes/none');
    assert.equal(status, 404);
    assert.deepEqual([missing.code, missing.message, missing.error.type], ['not_found', missing.detail, 'not_found']);
  });
});

test('what is said to be an object, of which nothing else is known, may be any value; not with `strict`', async () => {
  const choice = object({ value: { type: 'object' }, name: string }, ['value']);
  const box = object({ id: string, choices: list(ref('choice')), size: object({ x: string }) }, ['id']);
  const paths = {
    '/boxes': {
      post: { ...sends(object({ choices: list(ref('choice')), size: object({ x: string }) })), ...answers(ref('box')) },
    },
    '/boxes/{id}': { ...within('id'), get: answers(ref('box')) },
  };
  const sent = { choices: [{ value: true }, { value: 'x' }, { value: { y: 1 } }] };
  await standIn(paths, { box, choice }, async (ask) => {
    const { status, json: made, headers } = await ask('POST', '/boxes', sent);
    assert.equal(status, 200);
    assert.match(String(headers.get('ninefold-warning')), /body choices\/0\/value is no object/);
    assert.deepEqual((await ask('GET', `/boxes/${made.id}`)).json.choices, sent.choices);
    assert.equal((await ask('POST', '/boxes', { size: 'big' })).status, 400);
  });
  await standIn(paths, { box, choice }, async (ask) => assert.equal((await ask('POST', '/boxes', sent)).status, 400), {}, true);
});

test('a state of which no words are listed begins as its description or the filter of its list says, and an error has its code though it may lack it', async () => {
  const box = object(
    { id: string, state: string, status: { ...string, description: 'Either `idle` or `busy`.' }, title: string },
    ['id'],
  );
  const missing = object({ message: string, code: { ...string, example: 'box_not_found' } });
  const { responses } = answers(ref('box')) as { responses: object };
  const state = { name: 'state', in: 'query', schema: { ...string, enum: ['closed', 'open', 'all'] } };
  const paths = {
    '/boxes': {
      post: { ...sends(object({ title: string, status: string })), ...answers(ref('box')) },
      get: { parameters: [state], ...answers(list(ref('box'))) },
    },
    '/boxes/{id}': {
      ...within('id'),
      get: { responses: { ...responses, 404: { description: 'None.', ...json(ref('missing')) } } },
    },
  };
  await standIn(paths, { box, missing }, async (ask) => {
    const { json: made } = await ask('POST', '/boxes', { title: 'a' });
    assert.deepEqual([made.state, made.status], ['open', 'idle']);
    assert.match((await ask('GET', '/boxes/none')).json.code, /not_found/);
  });
});

test('below a parameter stands the list of things that a second one tells apart', async () => {
  const flag = object({ key: string, name: string }, ['key']);
  const paths = {
    '/flags/{projectKey}': {
      ...within('projectKey'),
      get: answers(object({ items: list(ref('flag')) })),
      post: { ...sends(ref('flag')), ...answers(ref('flag'), {}, '201') },
    },
    '/flags/{projectKey}/{flagKey}': { ...within('projectKey', 'flagKey'), get: answers(ref('flag')) },
  };
  await standIn(paths, { flag }, async (ask) => {
    const sent = { key: 'f', name: 'F' };
    assert.equal((await ask('POST', '/flags/p', sent)).status, 201);
    assert.deepEqual((await ask('GET', '/flags/p')).json, { items: [sent] });
    assert.deepEqual((await ask('GET', '/flags/q')).json, { items: [] });
    assert.deepEqual((await ask('GET', '/flags/p/f')).json, sent);
  });
});

test('an answer that says which thing was made within an envelope says the one that was, and its own status', async () => {
  const id = { type: 'string', example: '12345' };
  const envelope = (data: unknown) =>
    object({ status_code: { type: 'integer', example: 200 }, service: { type: 'string', example: 'crm' }, data }, [
      'status_code',
      'data',
    ]);
  const one = within('id');
  const paths = {
    '/contacts': {
      get: answers(envelope(list(ref('Contact')))),
      post: { ...sends(ref('Contact')), ...answers(ref('Made'), {}, '201') },
    },
    '/contacts/{id}': {
      ...one,
      get: answers(envelope(ref('Contact'))),
      patch: { ...sends(object({ name: string })), ...answers(envelope(ref('Named'))) },
    },
    // What holds more than the name of one thing tells of something else.
    '/leads': {
      post: { ...sends(ref('Lead')), ...answers(object({ meta: object({ id, took: string }, ['id']) }, ['meta']), {}, '201') },
    },
    '/leads/{id}': { ...one, get: answers(ref('Lead')) },
  };
  const shapes = {
    Named: object({ id }, ['id']),
    Made: envelope(ref('Named')),
    Contact: object({ id, name: string }, ['id', 'name']),
    Lead: object({ id, name: string }, ['id']),
  };
  await standIn(paths, shapes, async (ask) => {
    const made = await Promise.all(['a', 'b'].map((name) => ask('POST', '/contacts', { name })));
    assert.deepEqual(
      made.map(({ status, json: { status_code } }) => [status, status_code]),
      [
        [201, 201],
        [201, 201],
      ],
    );
    const ids = made.map(({ json: { data } }) => data.id);
    assert.equal(new Set(ids).size, 2);
    for (const [index, name] of ['a', 'b'].entries())
      assert.deepEqual((await ask('GET', `/contacts/${ids[index]}`)).json.data, { id: ids[index], name });
    assert.equal((await ask('PATCH', `/contacts/${ids[1]}`, { name: 'c' })).json.data.id, ids[1]);
    const { json: lead } = await ask('POST', '/leads', { name: 'l' });
    assert.equal((await ask('GET', `/leads/${lead.meta.id}`)).status, 404);
  });
});

test('the base path alone means the path that is nothing but a slash; a longer one means none', async () => {
  const box = object({ id: string, label: string }, ['id']);
  const paths = {
    '/': { post: { ...sends(object({ label: string })), ...answers(ref('box'), {}, '201') }, get: answers(list(ref('box'))) },
    '/{id}': { ...within('id'), get: answers(ref('box')) },
  };
  const more = { servers: [{ url: 'https://example.com/v2/boxes' }] };
  await standIn(
    paths,
    { box },
    async (ask) => {
      const { status, json: made } = await ask('POST', '/v2/boxes', { label: 'a' });
      assert.equal(status, 201);
      assert.equal((await ask('GET', `/v2/boxes/${made.id}`)).json.label, 'a');
      assert.equal((await ask('GET', '/v2')).status, 404);
      assert.equal((await ask('GET', '/v2/boats')).status, 404);
      assert.match((await ask('GET', '/v3/boxes')).headers.get('ninefold-warning') ?? '', /version v3 is not stated/);
    },
    more,
  );
  await standIn(paths, { box }, async (ask) => assert.equal((await ask('GET', '/v2/boxes')).status, 404), more, true);
});

test('two schemes of one requirement that stand in the same place are asked for one by one; others together', () => {
  const oauth = (flow: object) => ({ type: 'oauth2', flows: flow });
  const authorizationUrl = 'https://example.com/authorize';
  const securitySchemes = {
    page: oauth({ implicit: { authorizationUrl, scopes: {} } }),
    code: oauth({ authorizationCode: { authorizationUrl, tokenUrl: 'https://example.com/token', scopes: {} } }),
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  };
  const accepted = (security: readonly object[]) => {
    const paths = { '/boxes': { get: { ...answers(list(string)), security } } };
    const { accept } = part({ paths, components: { securitySchemes }, security }, 'authentication') as { accept?: unknown };
    return accept;
  };
  assert.deepEqual(accepted([{ page: [], code: [] }]), ['page', 'code']);
  assert.deepEqual(accepted([{ page: [], key: [] }]), [['page', 'key']]);
  assert.deepEqual(accepted([{ page: [], code: [], key: [] }]), [
    ['page', 'key'],
    ['code', 'key'],
  ]);
});
