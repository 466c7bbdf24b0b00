import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { caller, tellService } from './serving/callers.ts';
import { tryService } from './serving/tried.ts';
import { files } from './values/files.ts';

type Row = Readonly<Record<string, unknown>>;

async function drive(document = files) {
  const service = await tryService(document);
  const { send } = service;
  for (const id of ['a', 'b']) await send('POST', '/folders', { body: { id } });
  const put = async (name: string, folder = 'a') => (await send('POST', '/files', { body: { folder, name } })).json as Row;
  const code = async (method: string, target: string, body?: unknown) => {
    const { status, json } = await send(method, target, { body });
    return [status, (json as Row | undefined)?.code];
  };
  return { ...service, put, code };
}

test('a file that is deleted is gone to all but what brings it back, and then it is as it was', async () => {
  const { send, put, code, close, failures } = await drive();
  const { id } = await put('one');
  await send('POST', `/files/${id}/lock`);
  assert.deepEqual(await code('POST', `/files/${id}/undelete`), [409, 'wrong_state']);
  assert.deepEqual(await code('DELETE', `/files/${id}`), [204, undefined]);
  for (const [method, tail] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/lock'],
  ])
    assert.deepEqual(await code(method as string, `/files/${id}${tail}`, method === 'PATCH' ? { name: 'two' } : undefined), [
      410,
      'gone',
    ]);
  assert.deepEqual((await send('GET', '/files')).json, []);
  assert.equal(((await send('GET', '/folders/a')).json as Row).size, 0);
  assert.deepEqual(await code('GET', '/files/file_none'), [404, 'missing']);
  const back = await send('POST', `/files/${id}/undelete`);
  const { back_at: at, ...row } = back.json as Row;
  assert.deepEqual([back.status, row], [200, { id, folder: 'a', name: 'one', state: 'open' }]);
  assert.equal(at, '2026-06-01T09:00:00.000Z');
  assert.deepEqual((await send('GET', '/files')).json, [back.json]);
  assert.equal(((await send('GET', '/folders/a')).json as Row).size, 1);
  assert.deepEqual(await code('POST', `/files/${id}/undelete`), [409, 'wrong_state']);
  assert.deepEqual(failures, []);
  await close();
});

test('what would not fit among the others is not brought back, and is kept all the same', async () => {
  const { send, put, code, close } = await drive();
  const { id } = await put('one');
  await send('DELETE', `/files/${id}`);
  const { id: other } = await put('one');
  assert.deepEqual(await code('POST', `/files/${id}/undelete`), [409, 'taken']);
  await send('DELETE', `/files/${other}`);
  await send('DELETE', '/folders/a');
  assert.deepEqual(await code('POST', `/files/${id}/undelete`), [404, 'missing']);
  await send('POST', '/folders', { body: { id: 'a' } });
  assert.deepEqual(await code('POST', `/files/${id}/undelete`), [200, undefined]);
  await close();
});

test('once its time is over, a deleted row is as one that never was', async () => {
  const { send, put, code, clock, close } = await drive();
  const { id } = await put('one');
  await send('DELETE', `/files/${id}`);
  clock.advance(30 * 86_400_000 - 1);
  assert.deepEqual(await code('GET', `/files/${id}`), [410, 'gone']);
  clock.advance(1);
  assert.deepEqual(await code('GET', `/files/${id}`), [404, 'missing']);
  assert.deepEqual(await code('POST', `/files/${id}/undelete`), [404, 'missing']);
  await close();
});

test('reading tells that a row is deleted where that is its answer, and nothing else finds it', async () => {
  const { send, code, clock, close } = await drive();
  const { id } = (await send('POST', '/sheets', { body: { title: 'one' } })).json as Row;
  await send('DELETE', `/sheets/${id}`);
  clock.advance(400 * 86_400_000);
  const { status, json } = await send('GET', `/sheets/${id}`);
  assert.deepEqual([status, json], [200, { id, deleted: true }]);
  assert.deepEqual(await code('PATCH', `/sheets/${id}`, { title: 'two' }), [410, 'gone']);
  assert.deepEqual((await send('GET', '/sheets')).json, []);
  await close();
});

test('who may not see a row is not told that there was one', async () => {
  const document = files
    .replace('resources:', 'purpose: { users: { person: Somebody. } }\nresources:')
    .replace(
      'fields: { id: string, title',
      'fields: { id: string, owner: { type: string, readOnly: true, set: { create: caller.id } }, title',
    )
    .replace('required: [id, title]', 'required: [id, owner, title]')
    .replace(
      'authentication: none',
      `authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:32}", placeholder: "{key}" } }
  permissions:
    - { allow: [create sheet, all folder, all file], to: person }
    - { allow: [read sheet, list sheet, update sheet, delete sheet], to: person, if: "resource.owner == caller.id" }`,
    );
  const service = await tellService(document);
  const [ann, bob] = [caller('person', 'ann'), caller('person', 'bob')];
  const { id } = (await service.as(ann, 'POST', '/sheets', { title: 'one' })).json as Row;
  await service.as(ann, 'DELETE', `/sheets/${id}`);
  assert.equal((await service.as(ann, 'GET', `/sheets/${id}`)).status, 200);
  assert.equal((await service.as(bob, 'GET', `/sheets/${id}`)).status, 404);
  assert.equal((await service.as(bob, 'DELETE', `/sheets/${id}`)).status, 404);
  await service.close();
});

test('of somebody who is erased nothing is kept that was deleted, whatever it is known by', async () => {
  const { service, send, put, code, close } = await drive(
    files.replace('generate: "sht_{ulid}" }\n    fields: { id: string', 'generate: integer }\n    fields: { id: integer'),
  );
  const { id } = await put('one');
  await send('POST', '/sheets', { body: { title: 'one' } });
  await service.administer('erase', { rows: [`file/${id}`, 'sheet/1'], confirmed: true });
  assert.deepEqual(await code('GET', `/files/${id}`), [404, 'missing']);
  assert.deepEqual(await code('GET', '/sheets/1'), [404, 'missing']);
  await close();
});

test('what is kept is read back from OpenAPI as it was stated', () => {
  const document = parseDocument(`title: Files\n${files}`, 'files.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});

test('what reading tells of a deleted row stands beside the row in OpenAPI', () => {
  const document = parseDocument(`title: Files\n${files}`, 'files.yaml');
  const { paths } = exported(document, 'openapi') as unknown as {
    paths: Record<string, { get: { responses: Record<string, { content: Record<string, { schema: { anyOf?: unknown[] } }> }> } }>;
  };
  const { content } = paths['/sheets/{id}']?.get.responses[200] ?? {};
  const schema = content?.['application/json']?.schema;
  const [row, told] = (schema?.anyOf ?? []) as { properties?: object }[];
  assert.deepEqual(row, { $ref: '#/components/schemas/Sheet' });
  assert.deepEqual(Object.keys(told?.properties ?? {}), ['id', 'deleted']);
  assert.ok(paths['/files/{id}']?.get.responses[410]);
});
