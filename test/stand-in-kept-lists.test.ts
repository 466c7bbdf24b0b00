import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, integer, list, object, sends, standIn, string } from './import/stand-in.ts';

/** Lists of which only the shapes are known, and what is sent to their paths. */

test('a list in a body changes and takes out what it names of what was sent there, and DELETE of none takes out all', async () => {
  const tag = object({ id: string, name: string, weight: integer });
  const paths = {
    '/tags': {
      get: answers(list(tag)),
      post: { ...sends(list(object({ name: string, weight: integer }))), responses: { 202: { description: 'Queued.' } } },
      put: { ...sends(list(tag)), responses: { 202: { description: 'Queued.' } } },
      delete: { ...sends(list(string)), responses: { 202: { description: 'Queued.' } } },
    },
  };
  await standIn(paths, {}, async (ask) => {
    await ask('POST', '/tags', [
      { name: 'a', weight: 1 },
      { name: 'b', weight: 2 },
    ]);
    const [a, b] = (await ask('GET', '/tags')).json;
    assert.deepEqual([a.name, b.name], ['a', 'b']);
    await ask('PUT', '/tags', [{ id: b.id, weight: 3 }]);
    assert.deepEqual((await ask('GET', '/tags')).json, [a, { ...b, weight: 3 }]);
    await ask('PUT', '/tags', ['no thing at all']);
    await ask('DELETE', '/tags', ['nobody']);
    assert.equal((await ask('GET', '/tags')).json.length, 2);
    await ask('DELETE', '/tags', [a.id]);
    assert.deepEqual((await ask('GET', '/tags')).json, [{ ...b, weight: 3 }]);
    await ask('DELETE', '/tags', []);
    assert.deepEqual((await ask('GET', '/tags')).json, []);
  });
});
