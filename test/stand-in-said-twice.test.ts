import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What a description says twice, and not alike: in the path and in the body, in a default and in its schema. */

const done = { responses: { 204: { description: 'Done.' } } };

test('a body need not say again what its path says of a thing that is there', async () => {
  const user = object({ id: string, name: string }, ['id', 'name']);
  const paths = {
    '/users': { post: { ...sends(object({ name: string }, ['name'])), ...answers(ref('user')) } },
    '/users/{user_id}': { ...within('user_id'), get: answers(ref('user')) },
    '/users/{user_id}/praise': {
      ...within('user_id'),
      post: { ...sends(object({ user_id: string, why: string }, ['user_id', 'why'])), ...done },
    },
  };
  await standIn(paths, { user }, async (ask) => {
    const { json: made } = await ask('POST', '/users', { name: 'Ada' });
    const praised = await ask('POST', `/users/${made.id}/praise`, { why: 'so' });
    assert.equal(praised.status, 204);
    assert.match(String(praised.headers.get('ninefold-warning')), /user_id is required and was not sent/);
    assert.equal((await ask('POST', `/users/${made.id}/praise`, { user_id: made.id })).status, 400);
  });
  const strictly = (ask: (method: string, path: string, body?: unknown) => Promise<{ status: number }>) =>
    ask('POST', '/users/u1/praise', { why: 'so' }).then(({ status }) => assert.equal(status, 400));
  await standIn(paths, { user }, strictly, {}, true);
});

test('a body need not say again what a stated parameter of its query says, and a form that is described as a text may have any fields', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const asText = { requestBody: { content: { 'application/x-www-form-urlencoded': { schema: string } } } };
  const paths = {
    '/me/following': {
      put: {
        parameters: [{ name: 'ids', in: 'query', schema: string }],
        ...sends(object({ ids: list(string), why: string }, ['ids'])),
        ...done,
      },
    },
    '/detections': { post: { ...asText, ...answers(object({ found: list(string) })) } },
    '/notes': { post: { ...sends(string), ...done } },
  };
  await standIn(paths, {}, async (ask) => {
    assert.equal((await ask('PUT', '/me/following?ids=a', { why: 'so' })).status, 204);
    assert.equal((await ask('PUT', '/me/following', { why: 'so' })).status, 400);
    assert.equal((await ask('POST', '/detections', { text: 'some tacos' }, form)).status, 200);
    assert.equal((await ask('POST', '/notes', { text: 'some tacos' })).status, 400);
  });
});

test('an act on what is read at a path with a word behind it finds no thing that there is not', async () => {
  const box = object({ Id: string, Label: string }, ['Id']);
  const paths = {
    '/boxes/create': { post: { ...sends(object({ Label: string })), ...answers(object({ Id: string }, ['Id']), {}, '201') } },
    '/boxes/json': { get: answers(list(ref('box'))) },
    '/boxes/{id}/json': { ...within('id'), get: answers(ref('box')) },
    '/boxes/{id}/shake': { ...within('id'), post: done },
  };
  await standIn(paths, { box }, async (ask) => {
    const { json: made } = await ask('POST', '/boxes/create', { Label: 'a' });
    assert.equal((await ask('POST', `/boxes/${made.Id}/shake`)).status, 204);
    assert.equal((await ask('POST', '/boxes/nobody/shake')).status, 404);
  });
});

test('a default that is the same value written otherwise is there when nothing was sent, and what it holds may be sent', async () => {
  const scopes = { type: 'array', items: { type: 'array', items: {} }, default: ['read', 'write'] };
  const fields = { days: { type: 'integer', default: '90' }, open: { type: 'boolean', default: 'false' }, scopes };
  const paths = {
    '/grants': { post: { ...sends(ref('grant')), ...answers(ref('grant')) } },
    '/grants/{id}': { ...within('id'), get: answers(ref('grant')) },
  };
  const grant = object({ id: { ...string, readOnly: true }, ...fields });
  await standIn(paths, { grant }, async (ask) => {
    const { json: made } = await ask('POST', '/grants', {});
    assert.deepEqual([made.days, made.open, made.scopes], [90, false, ['read', 'write']]);
    assert.deepEqual((await ask('POST', '/grants', { scopes: ['read'] })).json.scopes, ['read']);
    assert.deepEqual((await ask('GET', `/grants/${made.id}`)).json, made);
  });
});
