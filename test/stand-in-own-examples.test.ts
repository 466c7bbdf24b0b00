import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, json, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What a description shows by its own words and examples, though its shapes and paths say otherwise. */

test('a body is taken that breaks its shape as the example of that shape does, and no other one', async () => {
  const message = { ...object({ to: string, body: string }, ['to', 'body']), example: { messages: [{ to: '1', body: 'a' }] } };
  const paths = { '/send': { post: { requestBody: json(message), ...answers(object({ status: string })) } } };
  await standIn(paths, {}, async (ask) => {
    const shown = await ask('POST', '/send', { messages: [{ to: '2', body: 'b' }] });
    assert.equal(shown.status, 200);
    assert.match(String(shown.headers.get('ninefold-warning')), /to is required and was not sent/);
    assert.equal((await ask('POST', '/send', { to: '2' })).status, 400);
    assert.equal((await ask('POST', '/send', {})).status, 400);
    assert.equal((await ask('POST', '/send', { to: 2, body: 'b' })).status, 400);
  });
  await standIn(paths, {}, async (ask) => assert.equal((await ask('POST', '/send', { messages: [] })).status, 400), {}, true);
});

test('the base path alone is the path of a slash, also where one thing stands at a path below it and a query is sent', async () => {
  const toy = object({ id: string, name: string }, ['id', 'name']);
  const paths = {
    '/': { post: { ...sends(object({ name: string })), ...answers(ref('Toy')) }, get: answers(list(ref('Toy'))) },
    '/{id}': { ...within('id'), get: answers(ref('Toy')) },
  };
  const more = { servers: [{ url: 'https://toys.example/v2/toys' }] };
  await standIn(
    paths,
    { Toy: toy },
    async (ask) => {
      const { json: made } = await ask('POST', '/v2/toys', { name: 'Ball' });
      assert.deepEqual((await ask('GET', '/v2/toys?page=1')).json, [made]);
      assert.deepEqual((await ask('GET', `/v2/toys/${made.id}`)).json, made);
      assert.equal((await ask('GET', '/v2/toys/none')).status, 404);
    },
    more,
  );
});
