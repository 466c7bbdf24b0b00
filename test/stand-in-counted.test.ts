import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, integer, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What is told of a list without its things: how many it has, and their names. */

const pet = object({ id: string, name: string }, ['id', 'name']);
const filtering = object({ filter: list(object({ field: string, op: string, value: string })) });
const query = (name: string, schema: unknown = string) => ({ name, in: 'query', schema });

test('what counts the things of a list at an address of its own says how many it has, narrowed as it is, and what lists or is not called so counts none', async () => {
  const petsOf = (path: string) => ({
    [path]: {
      post: { ...sends(object({ name: string })), ...answers(ref('pet')) },
      get: { parameters: [query('name'), query('limit', integer)], ...answers(list(ref('pet'))) },
    },
    [`${path}/{id}`]: { ...within('id'), get: answers(ref('pet')) },
  });
  const paths = {
    ...petsOf('/pets'),
    '/pets/query': { post: { ...sends(filtering), ...answers(object({ items: list(ref('pet')) })) } },
    '/pets/query/count': { post: { ...sends(filtering), ...answers(object({ queryCount: integer })) } },
    '/pets/count': { get: { parameters: [query('name')], ...answers(integer) } },
    '/pets/$count': { get: answers(object({ id: integer, pet_count: integer }, ['id', 'pet_count'])) },
    '/pets/_count': { get: answers(object({ count: integer, billable_count: integer }, ['count', 'billable_count'])) },
    '/pets/total_count': { get: answers(object({ total: integer, results: list(object({ name: string })) }, ['total'])) },
  };
  await standIn(paths, { pet }, async (ask) => {
    for (const name of ['a', 'b', 'b']) await ask('POST', '/pets', { name });
    assert.equal((await ask('GET', '/pets/count')).json, 3);
    assert.equal((await ask('GET', '/pets/count?name=b')).json, 2);
    const by = (...filter: unknown[]) => ask('POST', '/pets/query/count', { filter });
    assert.deepEqual((await by()).json, { queryCount: 3 });
    assert.deepEqual((await by({ field: 'name', op: 'eq', value: 'b' })).json, { queryCount: 2 });
    assert.equal((await ask('GET', '/pets/_count')).json.count, 3);
    assert.notEqual((await ask('GET', '/pets/$count')).json.pet_count, 3);
    assert.notEqual((await ask('GET', '/pets/total_count')).json.total, 3);
  });
});

test('a list of names alone has those of what was made there, below each owner, and one of other texts has not', async () => {
  const index = object({ name: string, size: integer }, ['name', 'size']);
  const paths = (names: unknown) => ({
    '/homes/{home}/indexes': {
      ...within('home'),
      post: { ...sends(ref('index')), ...answers(ref('index'), {}, '201') },
      get: answers(names),
    },
    '/homes/{home}/indexes/{name}': { ...within('home', 'name'), get: answers(ref('index')), delete: answers(object({})) },
  });
  const told = async (names: unknown) => {
    const answered: unknown[] = [];
    await standIn(paths(names), { index }, async (ask) => {
      for (const [home, name] of ['a1', 'a2', 'b3'].map((one) => [...one]))
        await ask('POST', `/homes/${home}/indexes`, { name, size: 1 });
      for (const home of ['a', 'b']) answered.push((await ask('GET', `/homes/${home}/indexes`)).json);
      await ask('DELETE', '/homes/b/indexes/3');
      answered.push((await ask('GET', '/homes/b/indexes')).json);
    });
    return answered;
  };
  assert.deepEqual(await told(list(string)), [['1', '2'], ['3'], []]);
  const counted = object({ names: list(string), count: integer }, ['names', 'count']);
  assert.deepEqual(await told(counted), [
    { names: ['1', '2'], count: 2 },
    { names: ['3'], count: 1 },
    { names: [], count: 0 },
  ]);
  const [two] = await told(object({ names: list(string), tags: list(string) }, ['names', 'tags']));
  assert.notDeepEqual((two as { names: string[] }).names, ['1', '2']);
});
