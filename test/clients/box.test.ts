import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BoxClient, BoxDeveloperTokenAuth } from 'box-node-sdk';
import { BoxApiError } from 'box-node-sdk/lib/box/errors';
import { standIn } from './stand-in.ts';

const stand = await standIn({ whole: 'box/openapi.json', excerpt: 'box/openapi.json.gz' });
const { url } = stand;
const box = new BoxClient({ auth: new BoxDeveloperTokenAuth({ token: 'made-up' }) }).withCustomBaseUrls({
  baseUrl: url,
  uploadUrl: url,
  oauth2Url: url,
});
after(() => assert.deepEqual(stand.failures, []));

test('groups are created, read, listed, changed and deleted', async () => {
  const made = await box.groups.createGroup({ name: 'Engines', description: 'Who builds them' });
  assert.deepEqual([made.type, made.name, made.description], ['group', 'Engines', 'Who builds them']);
  assert.equal((await box.groups.getGroupById(made.id)).name, 'Engines');
  await box.groups.createGroup({ name: 'Looms' });
  const { entries = [] } = await box.groups.getGroups();
  assert.deepEqual(entries.map(({ name }) => name).toSorted(), ['Engines', 'Looms']);
  assert.equal((await box.groups.updateGroupById(made.id, { requestBody: { name: 'Machines' } })).name, 'Machines');
  await box.groups.deleteGroupById(made.id);
  assert.equal((await box.groups.getGroups()).entries?.length, 1);
});

test('users', async () => {
  const made = await box.users.createUser({ name: 'Ada', login: 'ada@example.com', jobTitle: 'Analyst' });
  assert.deepEqual([made.type, made.name, made.login, made.jobTitle], ['user', 'Ada', 'ada@example.com', 'Analyst']);
  assert.equal((await box.users.getUserById(made.id)).login, 'ada@example.com');
  assert.equal((await box.users.updateUserById(made.id, { requestBody: { name: 'Ada L.' } })).name, 'Ada L.');
  assert.ok((await box.users.getUsers()).entries?.some(({ id }) => id === made.id));
  await box.users.deleteUserById(made.id);
  await assert.rejects(box.users.getUserById(made.id), BoxApiError);
});

test('folders', async () => {
  const made = await box.folders.createFolder({ name: 'Plans', parent: { id: '0' } });
  assert.deepEqual([made.type, made.name], ['folder', 'Plans']);
  assert.equal((await box.folders.getFolderById(made.id)).name, 'Plans');
  assert.equal((await box.folders.updateFolderById(made.id, { requestBody: { name: 'Drawings' } })).name, 'Drawings');
  assert.ok(Array.isArray((await box.folders.getFolderItems(made.id)).entries ?? []));
  await box.folders.deleteFolderById(made.id);
  await assert.rejects(box.folders.getFolderById(made.id), BoxApiError);
});

test('webhooks', async () => {
  const address = 'https://example.com/hook';
  const made = await box.webhooks.createWebhook({ target: { id: '1', type: 'folder' }, address, triggers: ['FILE.UPLOADED'] });
  assert.deepEqual([made.address, made.triggers], [address, ['FILE.UPLOADED']]);
  assert.equal((await box.webhooks.getWebhookById(made.id ?? '')).address, address);
  const { entries = [] } = await box.webhooks.getWebhooks();
  assert.deepEqual(
    entries.map(({ id }) => id),
    [made.id],
  );
  await box.webhooks.deleteWebhookById(made.id ?? '');
});

test('what is refused comes as the error of the client, told in the shape of the vendor', async () => {
  await assert.rejects(box.groups.getGroupById('12345'), (error: unknown) => {
    assert.ok(error instanceof BoxApiError, String(error));
    assert.equal(error.responseInfo.statusCode, 404);
    return true;
  });
});
