import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../src/check/check.ts';
import { fromForeign } from '../src/convert/foreign.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { isKey } from '../src/parts/form.ts';
import { serveSpec } from '../src/serve/service/serve-spec.ts';
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

const answerTo = async (source: object, path: string): Promise<readonly [number, string]> => {
  const { spec } = check(parseDocument(JSON.stringify(source), 'api.json', { isKey, foreign: fromForeign }));
  const service = await serveSpec(spec, { sample: true });
  try {
    const answer = await service.fetch(new Request(`http://127.0.0.1${path}`));
    return [answer.status, await answer.text()];
  } finally {
    await service.close();
  }
};
const info = { title: 'T', version: '1' };

test('whole bodies that Swagger 2.0 shows are answered, beside a schema and without one', async () => {
  const weather = { type: 'object', properties: { sky: { type: 'string' } } };
  const responses = (schema?: object) => ({
    200: { description: 'It.', schema, examples: { 'application/json': { sky: 'blue' } } },
  });
  const paths = { '/now': { get: { responses: responses(weather) } }, '/then': { get: { responses: responses() } } };
  const source = { swagger: '2.0', info, produces: ['application/json'], paths };
  for (const path of ['/now', '/then']) assert.deepEqual(await answerTo(source, path), [200, '{"sky":"blue"}'], path);
});

test('where no success is stated `default` is one, unless errors look so in the whole document', async () => {
  const weather = { description: 'It.', content: { 'application/json': { example: { sky: 'blue' } } } };
  const problem = object({ code: string, message: string }, ['code', 'message']);
  const failing = { description: 'Failed.', content: { 'application/json': { schema: ref('Error') } } };
  const well = { description: 'Well.', content: { 'application/json': { schema: object({ sky: string }) } } };
  const paths = {
    '/now': { get: { responses: { default: weather } } },
    '/done': { get: { responses: { default: failing } } },
    '/then': { get: { responses: { 200: well, 404: failing, default: failing } } },
  };
  const source = { openapi: '3.0.3', info, paths, components: { schemas: { Error: problem } } };
  assert.deepEqual(await answerTo(source, '/now'), [200, '{"sky":"blue"}']);
  assert.deepEqual(await answerTo(source, '/done'), [204, '']);
});

test('who prefers an answer without its body has the stated 204', async () => {
  const toy = object({ id: string, name: string }, ['id', 'name']);
  const responses = { 201: { description: 'It.', ...json(ref('Toy')) }, 204: { description: 'Made.' } };
  const paths = {
    '/toys': { post: { ...sends(object({ name: string })), responses }, get: answers(list(ref('Toy'))) },
    '/toys/{id}': { ...within('id'), get: answers(ref('Toy')) },
  };
  await standIn(paths, { Toy: toy }, async (ask) => {
    const make = async (prefer: string) => (await ask('POST', '/toys', { name: 'Ball' }, { prefer })).status;
    for (const prefer of ['return=minimal', 'wait=5, return=minimal', 'return-no-content'])
      assert.equal(await make(prefer), 204, prefer);
    for (const prefer of ['return=representation', 'return-content', 'noreturn=minimal'])
      assert.equal(await make(prefer), 201, prefer);
    assert.equal((await ask('GET', '/toys')).json.length, 6);
  });
});
