import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, integer, list, object, ref, sends, standIn, string, type Words, within } from './import/stand-in.ts';

/** What the answer to a creation calls the new thing is what paths find it by, whatever the member's name, type and place. */

const scheme = object({ id: integer, name: string });
const nothing = { responses: { 204: { description: 'Done.' } } };

/** Paths of things that are made with this answer. */
function made(told: unknown, thing: Words, parameter: Words = string): Words {
  const named = { parameters: [{ name: 'thingId', in: 'path', required: true, schema: parameter }] };
  return {
    '/things': { post: { ...sends(object({ name: string })), ...answers(told, {}, '201') }, get: answers(list(thing)) },
    '/things/{thingId}': { ...named, get: answers(thing), delete: nothing },
  };
}

test('an identifier is told as a text where the answer has a text, and the thing has a number', async () => {
  await standIn(made(ref('created'), ref('thing')), { created: object({ id: string }, ['id']), thing: scheme }, async (ask) => {
    const { json } = await ask('POST', '/things', { name: 'a' });
    assert.equal(json.id, '1');
    assert.equal((await ask('GET', `/things/${json.id}`)).json.name, 'a');
    assert.equal((await ask('POST', '/things', { name: 'b' })).json.id, '2');
  });
});

test('a text by which paths ask for an integer, or that the answer to a creation tells as a number, is counted', async () => {
  const thing = object({ id: string, name: string });
  const number = { type: 'number' };
  await standIn(made(object({ id: number, code: integer }), ref('thing')), { thing }, async (ask) => {
    const { json } = await ask('POST', '/things', { name: 'a' });
    assert.equal(json.id, 1);
    assert.deepEqual((await ask('GET', '/things/1')).json, { id: '1', name: 'a' });
  });
  await standIn(made(ref('thing'), ref('thing'), integer), { thing }, async (ask) => {
    const { json } = await ask('POST', '/things', { name: 'a' });
    assert.equal(json.id, '1');
    assert.equal((await ask('GET', '/things/1')).json.name, 'a');
  });
});

test('an identifier of type number is a whole one, and shown', async () => {
  const thing = object({ id: { type: 'number', example: 234 }, name: string });
  await standIn(made(ref('thing'), ref('thing')), { thing }, async (ask) => {
    const { json } = await ask('POST', '/things', { name: 'a' });
    assert.equal(json.id, 1);
    assert.deepEqual((await ask('GET', '/things')).json, [{ id: 1, name: 'a' }]);
  });
});

test('a creation that answers no field of the thing tells its name in `key`, or in the envelope of the answer', async () => {
  const thing = object({ thing_id: string, id: string, name: string });
  await standIn(made(object({ status: string, key: string }), ref('thing')), { thing }, async (ask) => {
    const [first, second] = [await ask('POST', '/things', { name: 'a' }), await ask('POST', '/things', { name: 'b' })];
    assert.notEqual(first.json.key, second.json.key);
    assert.equal((await ask('GET', `/things/${second.json.key}`)).json.name, 'b');
  });
  const queued = object({ message: string, response: object({ message: string, id: string }, ['message', 'id']) }, ['response']);
  await standIn(made(queued, ref('thing')), { thing: object({ id: string, name: string }) }, async (ask) => {
    const { json } = await ask('POST', '/things', { name: 'a' });
    assert.equal((await ask('GET', `/things/${json.response.id}`)).json.name, 'a');
  });
});

test('what a member beside it calls so is no name of the thing: a word of a list, or a field that the thing has', async () => {
  const thing = object({ thing_id: string, key: string, name: string });
  await standIn(made(object({ key: string }), ref('thing')), { thing }, async (ask) => {
    const { json } = await ask('POST', '/things', { name: 'a' });
    assert.equal((await ask('GET', `/things/${json.key}`)).status, 404);
  });
});

test('an identifier with a format of which its example has no likeness is a value of it', async () => {
  const thing = object({ range: { type: 'string', example: '2600:3c01::' }, name: string });
  const paths = {
    '/ranges': { post: { ...sends(object({ name: string })), ...answers(ref('thing')) } },
    '/ranges/{range}': {
      parameters: [{ name: 'range', in: 'path', required: true, schema: { type: 'string', format: 'ipv6' } }],
      get: answers(ref('thing')),
    },
  };
  await standIn(paths, { thing }, async (ask) => {
    const { json } = await ask('POST', '/ranges', { name: 'a' });
    assert.equal((await ask('GET', `/ranges/${json.range}`)).json.name, 'a');
  });
});

test('what stands below things of two kinds is made below either', async () => {
  const name = object({ id: string, name: string });
  const owned = (place: string, thing: string) => ({
    [`/${place}`]: { post: { ...sends(object({ title: string })), ...answers(ref(thing), {}, '201') } },
    [`/${place}/{owner}`]: { ...within('owner'), get: answers(ref(thing)) },
    [`/${place}/{owner}/names`]: {
      ...within('owner'),
      post: { ...sends(object({ name: string })), ...answers(ref('name'), {}, '201') },
      get: answers(list(ref('name'))),
    },
    [`/${place}/{owner}/names/{id}`]: { ...within('owner', 'id'), get: answers(ref('name')) },
  });
  const shapes = {
    person: object({ id: string, title: string }),
    firm: object({ id: string, title: string, seat: string }),
    name,
  };
  await standIn({ ...owned('people', 'person'), ...owned('firms', 'firm') }, shapes, async (ask) => {
    for (const place of ['people', 'firms']) {
      const { json: owner } = await ask('POST', `/${place}`, { title: 'x' });
      assert.equal((await ask('POST', `/${place}/${owner.id}/names`, { name: place })).status, 201);
      const { json: listed } = await ask('GET', `/${place}/${owner.id}/names`);
      assert.deepEqual(
        listed.map((one: { name: string }) => one.name),
        [place],
      );
    }
  });
});

test('a member that holds the one before is not the thing that a path is about', async () => {
  const before = object({ number: integer, status: string });
  const build = object({ previous_build: ref('before'), title: string });
  const paths = {
    '/builds': { post: { ...sends(object({ title: string })), ...answers(ref('summary'), {}, '201') } },
    '/builds/{number}': {
      parameters: [{ name: 'number', in: 'path', required: true, schema: integer }],
      get: answers(ref('build')),
    },
  };
  const summary = object({ number: integer, title: string });
  await standIn(paths, { before, build, summary }, async (ask) => {
    const { json } = await ask('POST', '/builds', { title: 'a' });
    assert.deepEqual(json, { number: 1, title: 'a' });
    assert.equal((await ask('GET', '/builds/1')).json.title, 'a');
  });
});

test('a list tells its things in the names and types that its answer has for them', async () => {
  const template = object({ TemplateID: integer, name: string }, ['TemplateID']);
  const listed = object({ TemplateId: { type: 'string' }, name: string }, ['TemplateId']);
  const paths = {
    '/templates': {
      post: { ...sends(object({ name: string }, ['name'])), ...answers(ref('template')) },
      get: answers(object({ templates: list(listed), total: integer }, ['templates'])),
    },
    '/templates/{templateID}': { ...within('templateID'), get: answers(ref('template')) },
  };
  await standIn(paths, { template }, async (ask) => {
    const { TemplateID: id } = (await ask('POST', '/templates', { name: 'a' })).json;
    const { json: page } = await ask('GET', '/templates');
    assert.deepEqual(page, { templates: [{ TemplateId: String(id), name: 'a' }], total: 1 });
  });
});

test('an answer of a name of its own, which has no member of the thing, tells its identifier whatever type that has', async () => {
  const order = object({ id: integer, note: { type: 'object', properties: {} }, name: string });
  const done = object({ itemId: ref('anything') });
  const paths = made(ref('done'), ref('order'), integer);
  const ofOne = paths['/things/{thingId}'] as Words;
  const all = { ...paths, '/things/{thingId}': { ...ofOne, put: { ...sends(ref('order')), ...answers(ref('done')) } } };
  await standIn(all, { order, done, anything: { type: 'object', properties: {} } }, async (ask) => {
    assert.deepEqual((await ask('POST', '/things', { name: 'a' })).json, { itemId: 1 });
    const changed = await ask('PUT', '/things/1', { name: 'b', note: 'a text, where nothing is said but that it is a map' });
    assert.deepEqual(changed.json, { itemId: 1 });
    assert.equal((await ask('GET', '/things/1')).json.name, 'b');
  });
  // What a member says of the thing is no identifier.
  await standIn(
    made(ref('done'), ref('order'), integer),
    { order, done: object({ name: string, itemId: string }) },
    async (ask) => {
      const { json } = await ask('POST', '/things', { name: 'a' });
      assert.equal(json.name, 'a');
    },
  );
});

test('a thing that is told by its name is found by its `id` too', async () => {
  const club = object({ id: integer, username: string, full_name: string }, ['id', 'username']);
  const hook = object({ id: integer, url: string }, ['id']);
  const paths = {
    '/clubs': { post: { ...sends(object({ username: string }, ['username'])), ...answers(ref('club'), {}, '201') } },
    '/clubs/{username}': { ...within('username'), get: answers(ref('club')) },
    '/clubs/{username}/hooks': {
      ...within('username'),
      post: { ...sends(object({ url: string }, ['url'])), ...answers(ref('hook'), {}, '201') },
      get: answers(list(ref('hook'))),
    },
    '/clubs/{username}/hooks/{id}': { ...within('username', 'id'), get: answers(ref('hook')) },
  };
  await standIn(paths, { club, hook }, async (ask) => {
    const { id } = (await ask('POST', '/clubs', { username: 'rowers' })).json;
    assert.equal((await ask('GET', '/clubs/rowers')).status, 200);
    assert.equal((await ask('POST', `/clubs/${id}/hooks`, { url: 'https://example.com' })).status, 201);
    assert.equal((await ask('GET', '/clubs/rowers/hooks')).json.length, 1);
    assert.equal((await ask('GET', `/clubs/${id + 1}`)).status, 404);
  });
});
