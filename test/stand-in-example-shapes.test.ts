import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, integer, list, object, sends, standIn, string, within } from './import/stand-in.ts';

/** Answers of which nothing but an example is known, and what stands around things. */

const shownAs = (example: unknown) => ({
  responses: { 200: { description: 'ok', content: { 'application/json': { examples: { response: { value: example } } } } } },
});
const around = { http_code: 200, response_code: 'SUCCESS' };
const readers = { list_id: 437, list_name: 'Readers', members: 0 };
const paths = {
  '/lists': {
    post: { ...sends(object({ list_name: string }, ['list_name'])), ...shownAs({ ...around, data: readers }) },
    get: shownAs({
      ...around,
      data: { current_page: 1, per_page: 15, last_page: 1, next_page_url: null, total: 1, data: [readers] },
    }),
  },
  '/lists/{list_id}': {
    ...within('list_id'),
    get: shownAs({ ...around, data: readers }),
    put: { ...sends(object({ list_name: string })), ...shownAs({ ...around, data: readers }) },
    delete: shownAs({ ...around, data: [] }),
  },
};

test('what only examples show is made, read, changed, listed and deleted, in the envelope that they show', async () => {
  await standIn(paths, {}, async (ask) => {
    const { json: made } = await ask('POST', '/lists', { list_name: 'Writers' });
    assert.deepEqual(made, { ...around, data: { ...readers, list_id: made.data.list_id, list_name: 'Writers' } });
    const at = `/lists/${made.data.list_id}`;
    const { json: changed } = await ask('PUT', at, { list_name: 'Authors' });
    assert.deepEqual(changed, { ...around, data: { ...made.data, list_name: 'Authors' } });
    assert.deepEqual((await ask('GET', at)).json, changed);
    assert.deepEqual((await ask('GET', '/lists')).json.data.data, [changed.data]);
    assert.equal((await ask('DELETE', at)).json.response_code, 'SUCCESS');
    assert.equal((await ask('GET', at)).status, 404);
  });
});

test('a page that no parameter of the description asks for begins at 1, and counts stand beside the rows in the map that holds them', async () => {
  await standIn(paths, {}, async (ask) => {
    for (const list_name of ['A', 'B', 'C']) await ask('POST', '/lists', { list_name });
    const names = async (query: string) =>
      (await ask('GET', `/lists?${query}`)).json.data.data.map((one: { list_name: string }) => one.list_name);
    assert.deepEqual(await names('page=1&limit=2'), ['A', 'B']);
    assert.deepEqual(await names('page=2&limit=2'), ['C']);
    const { data } = (await ask('GET', '/lists?page=2&limit=2')).json;
    assert.deepEqual(
      { ...data, data: [] },
      { current_page: 2, per_page: 2, last_page: 2, next_page_url: null, total: 3, data: [] },
    );
  });
});

test('a map that holds no rows counts none, and what is required around a thing says what its example says', async () => {
  const toy = object({ id: integer, name: string }, ['id', 'name']);
  const envelope = (data: unknown) =>
    object({ status: { type: 'string', example: 'success' }, code: { type: 'integer', example: 0 }, data }, ['status', 'data']);
  const counted = object({ limits: object({ total: integer, kinds: list(toy) }), data: list(toy) }, ['data']);
  const toys = {
    '/toys': { post: { ...sends(object({ name: string })), ...answers(envelope(toy)) }, get: answers(counted) },
    '/toys/{id}': { ...within('id'), get: answers(envelope(toy)) },
  };
  await standIn(toys, {}, async (ask) => {
    const { json: made } = await ask('POST', '/toys', { name: 'Ball' });
    assert.deepEqual(made, { status: 'success', data: { id: made.data.id, name: 'Ball' } });
    assert.deepEqual((await ask('GET', `/toys/${made.data.id}`)).json, made);
    assert.equal((await ask('GET', '/toys')).json.limits?.total, undefined);
  });
});

test('a schema that says of no member is as none, and one that says of any is kept to', async () => {
  const example = { id: 'N_1', name: 'Main Office', tags: ['a'] };
  const free = { type: 'object', additionalProperties: { type: 'string' } };
  const network = (schema: Readonly<Record<string, unknown>>, name: string) => ({
    [`/${name}`]: {
      post: { ...sends(object({ name: string })), ...answers(schema, { examples: { response: { value: example } } }, '201') },
    },
    [`/${name}/{${name}Id}`]: { ...within(`${name}Id`), get: answers(schema, { example }) },
  });
  await standIn({ ...network({ type: 'object' }, 'networks'), ...network(free, 'sites') }, {}, async (ask) => {
    const { json: made } = await ask('POST', '/networks', { name: 'Long Island' });
    assert.equal(made.name, 'Long Island');
    assert.deepEqual((await ask('GET', `/networks/${made.id}`)).json, made);
    assert.equal((await ask('POST', '/sites', { name: 'Long Island' })).json.tags, undefined);
  });
});
