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
      post: { ...sends(object({ Label: string })), ...answers(object({ Id: string, Warnings: list(string) }, ['Id']), {}, '201') },
    },
    '/boxes/json': { get: answers(list(ref('box'))) },
    '/boxes/{id}/json': { ...within('id'), get: answers(ref('box')) },
    '/boxes/{id}/update': { ...within('id'), post: { ...sends(object({ Label: string })), ...answers(ref('box')) } },
    '/boxes/{id}': { ...within('id'), delete: { responses: { 204: { description: 'Gone.' } } } },
    // What is made of files, what has a method of its own besides, and what no path tells apart.
    '/disks/create': { post: { responses: { 200: { description: 'Made.' } } } },
    '/disks/{id}': { ...within('id'), get: answers(ref('box')) },
    '/disks/{id}/info': { ...within('id'), get: answers(string) },
    '/search/all': { get: answers(list(ref('box'))) },
  };
  const endpoints = part({ paths, components: { schemas: { box } } }, 'endpoints') as Effects;
  assert.equal(endpoints['POST /boxes/{id}/update']?.does, 'update box');
  for (const key of ['POST /disks/create', 'GET /disks/{id}/info']) assert.equal(endpoints[key]?.does, undefined, key);
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
  await standIn(paths, { box }, async (ask) => {
    const { json: made } = await ask('POST', '/boxes', {});
    assert.deepEqual([made.tags, made.note], [[], null]);
    assert.equal((await ask('POST', '/boxes', { tags: null })).json.tags, null);
  }, { openapi: '3.1.0' });
});
