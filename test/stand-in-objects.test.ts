import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What a service says of its things inside of what is sent of them, and of its answers around their data. */

const made = (description: string) => ({ type: 'string', description });

test('what a service says of a thing inside of what was sent is there, stays, and tells each version', async () => {
  const Head = object({
    name: string,
    space: string,
    uid: made('What tells it apart, ever.\n\nPopulated by the system. Read-only.'),
    resourceVersion: made('Which version of it this is. Read-only.'),
    note: made('Whatever it is for; read-only things have none.'),
  });
  const Pod = object({ metadata: ref('Head'), size: { type: 'integer' } });
  const paths = {
    '/spaces/{space}/pods': { ...within('space'), post: { ...sends(ref('Pod')), ...answers(ref('Pod'), {}, '201') } },
    '/spaces/{space}/pods/{name}': {
      parameters: ['space', 'name'].map((name) => ({ name, in: 'path', required: true, schema: string })),
      get: answers(ref('Pod')),
      put: { ...sends(ref('Pod')), ...answers(ref('Pod')) },
    },
  };
  await standIn(paths, { Head, Pod }, async (ask) => {
    const { json: first } = await ask('POST', '/spaces/blue/pods', { metadata: { name: 'a' }, size: 1 });
    const { uid, resourceVersion, ...rest } = first.metadata;
    assert.deepEqual(rest, { name: 'a', space: 'blue' });
    assert.ok(typeof uid === 'string' && uid.length > 0, 'it has no uid');
    assert.equal(resourceVersion, '1');
    const { json: other } = await ask('POST', '/spaces/blue/pods', { metadata: { name: 'b' }, size: 1 });
    assert.notEqual(other.metadata.uid, uid);
    const { json: changed } = await ask('PUT', '/spaces/blue/pods/a', { ...first, size: 2 });
    assert.deepEqual(changed, { metadata: { ...first.metadata, resourceVersion: '2' }, size: 2 });
    assert.deepEqual((await ask('GET', '/spaces/blue/pods/a')).json, changed);
  });
});

test('an answer tells its own status where its words say so, in a map beside the data too; a thing keeps a status of its own', async () => {
  const Meta = object({ code: { type: 'integer', description: 'HTTP result code' } });
  const Photo = object({ id: string, title: string }, ['id']);
  const Hook = object({ id: string, url: string, status_code: { type: 'integer', description: 'What it was answered.' } }, [
    'id',
  ]);
  const enveloped = (data: unknown) => object({ data, meta: ref('Meta') });
  const paths = {
    '/photos': { post: { ...sends(ref('Photo')), ...answers(enveloped(ref('Photo')), {}, '201') } },
    '/photos/{id}': { ...within('id'), get: answers(enveloped(ref('Photo'))) },
    '/hooks': { post: { ...sends(ref('Hook')), ...answers(ref('Hook'), {}, '201') } },
    '/hooks/{id}': { ...within('id'), get: answers(ref('Hook')) },
  };
  await standIn(paths, { Meta, Photo, Hook }, async (ask) => {
    const { json } = await ask('POST', '/photos', { title: 'a' });
    assert.deepEqual(json.meta, { code: 201 });
    assert.deepEqual((await ask('GET', `/photos/${json.data.id}`)).json, { data: json.data, meta: { code: 200 } });
    const { json: hook } = await ask('POST', '/hooks', { url: 'https://a.example', status_code: 418 });
    assert.equal(hook.status_code, 418);
    assert.equal((await ask('GET', `/hooks/${hook.id}`)).json.status_code, 418);
  });
});
