import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** Members of a thing that are read and changed at paths of their own. */

const flag = { type: 'boolean' };
const done = { responses: { 204: { description: 'Done.' } } };
const settings = object({ dark: flag, speed: { type: 'number' } });
const user = object({ id: string, name: string, status: flag, settings, labels: list(string), ownerRef: string }, [
  'id',
  'name',
  'status',
  'settings',
]);

const paths = {
  '/users': { post: { ...sends(object({ name: string })), ...answers(ref('User'), {}, '201') } },
  '/users/{userId}': { ...within('userId'), get: answers(ref('User')), delete: done },
  '/users/{userId}/settings': { ...within('userId'), get: answers(settings), patch: { ...sends(settings), ...done } },
  '/users/{userId}/settings/edit': { ...within('userId'), post: { ...sends(settings), ...answers(object({ ok: flag })) } },
  '/users/{userId}/status': { ...within('userId'), put: { ...sends(object({ status: flag }, ['status'])), ...done } },
  // What is sent is something else, and a list says which things belong to another.
  '/users/{userId}/name': {
    ...within('userId'),
    post: { ...sends(object({ reason: string, at: string, by: string })), ...done },
  },
  '/users/{userId}/labels': { ...within('userId'), post: { ...sends(object({ labels: list(string) })), ...done } },
};

test('what is sent to the path of a member is what its thing shows, and other things are as they were', async () => {
  await standIn(paths, { User: user }, async (ask) => {
    const [{ json: ada }, { json: bob }] = [
      await ask('POST', '/users', { name: 'Ada' }),
      await ask('POST', '/users', { name: 'Bob' }),
    ];
    const at = `/users/${ada.id}`;
    const speed = 7.25;
    assert.equal((await ask('PATCH', `${at}/settings`, { dark: !ada.settings.dark })).status, 204);
    assert.deepEqual((await ask('GET', at)).json.settings, { ...ada.settings, dark: !ada.settings.dark });
    assert.equal((await ask('POST', `${at}/settings/edit`, { speed })).status, 200);
    const { json: after } = await ask('GET', at);
    assert.deepEqual(after.settings, { dark: !ada.settings.dark, speed });
    assert.deepEqual((await ask('GET', `${at}/settings`)).json, after.settings);
    assert.equal((await ask('PUT', `${at}/status`, { status: !ada.status })).status, 204);
    assert.equal((await ask('GET', at)).json.status, !ada.status);
    assert.deepEqual((await ask('GET', `/users/${bob.id}`)).json, bob);
    assert.equal((await ask('PUT', '/users/nobody/status', { status: true })).status, 404);
  });
});

test('a path that is called like a member changes nothing of it where something else is sent there, or the member is a list', async () => {
  await standIn(paths, { User: user }, async (ask) => {
    const { json: ada } = await ask('POST', '/users', { name: 'Ada' });
    const { labels } = (await ask('GET', `/users/${ada.id}`)).json;
    assert.equal((await ask('POST', `/users/${ada.id}/name`, { reason: 'married' })).status, 204);
    assert.equal((await ask('POST', `/users/${ada.id}/labels`, { labels: ['new'] })).status, 204);
    const { json: after } = await ask('GET', `/users/${ada.id}`);
    assert.deepEqual([after.name, after.labels], ['Ada', labels]);
  });
});
