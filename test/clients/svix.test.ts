import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ApiException, Svix } from 'svix';
import { standIn } from './stand-in.ts';

const stand = await standIn({ whole: 'svix/codegen/lib-openapi.json', excerpt: 'svix/lib-openapi.json.gz' });
const svix = new Svix('testsk_x', { serverUrl: stand.url });
after(() => assert.deepEqual(stand.failures, []));

test('applications are created, read, listed, changed and deleted', async () => {
  const made = await svix.application.create({ name: 'Engines', metadata: { team: 'one' } });
  assert.deepEqual([made.name, made.metadata], ['Engines', { team: 'one' }]);
  assert.match(made.id, /^app_[A-Za-z0-9]+$/);
  assert.ok(made.createdAt instanceof Date);
  assert.equal((await svix.application.get(made.id)).name, 'Engines');
  for (const name of ['b', 'c', 'd']) await svix.application.create({ name });
  const first = await svix.application.list({ limit: 2 });
  assert.deepEqual([first.data.length, first.done], [2, false]);
  const second = await svix.application.list({ limit: 2, iterator: first.iterator });
  assert.deepEqual([second.data.length, second.done], [2, true]);
  assert.equal((await svix.application.update(made.id, { name: 'Looms' })).name, 'Looms');
  assert.equal((await svix.application.patch(made.id, { name: 'Mills' })).name, 'Mills');
  await svix.application.delete(made.id);
  await assert.rejects(svix.application.get(made.id), ApiException);
});

test('event types are known by their names', async () => {
  const made = await svix.eventType.create({ name: 'engine.started', description: 'It runs.' });
  assert.deepEqual([made.name, made.description, made.deprecated], ['engine.started', 'It runs.', false]);
  assert.equal((await svix.eventType.get('engine.started')).description, 'It runs.');
  assert.equal((await svix.eventType.update('engine.started', { description: 'It goes.' })).description, 'It goes.');
  assert.deepEqual(
    (await svix.eventType.list()).data.map(({ name }) => name),
    ['engine.started'],
  );
  await svix.eventType.delete('engine.started');
});

test('endpoints and messages belong to an application', async () => {
  const application = await svix.application.create({ name: 'Owner' });
  const made = await svix.endpoint.create(application.id, { url: 'https://example.com/hook', description: 'first' });
  assert.deepEqual([made.url, made.description], ['https://example.com/hook', 'first']);
  assert.equal((await svix.endpoint.get(application.id, made.id)).url, 'https://example.com/hook');
  assert.equal((await svix.endpoint.patch(application.id, made.id, { description: 'second' })).description, 'second');
  assert.deepEqual(
    (await svix.endpoint.list(application.id)).data.map(({ id }) => id),
    [made.id],
  );
  assert.equal(typeof (await svix.endpoint.getSecret(application.id, made.id)).key, 'string');
  const other = await svix.application.create({ name: 'Other' });
  assert.deepEqual((await svix.endpoint.list(other.id)).data, []);
  await svix.endpoint.delete(application.id, made.id);
  const message = await svix.message.create(application.id, { eventType: 'engine.started', payload: { speed: 7 } });
  assert.deepEqual([message.eventType, message.payload], ['engine.started', { speed: 7 }]);
  assert.equal((await svix.message.get(application.id, message.id)).eventType, 'engine.started');
});

test('what is refused comes as the error of the client', async () => {
  await assert.rejects(svix.application.get('app_nobody'), (error: unknown) => {
    assert.ok(error instanceof ApiException);
    assert.equal(error.code, 404);
    return true;
  });
  // @ts-expect-error: a name is required, and a client without types could leave it out.
  await assert.rejects(svix.application.create({}), (error: unknown) => error instanceof ApiException && error.code === 422);
});
