import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ServeOptions, type Service, serve } from '../src/index.ts';
import { take } from './import/source.ts';
import { answers, list, object, sends, string, type Words } from './import/stand-in.ts';

/** Rows that are given without an identifier get one as a POST makes it. */
const uuid = { type: 'string', format: 'uuid' };

/** A description of things: of those who send one nobody says that the identifier is not theirs to give. */
function described(id: Words): object {
  const thing = object({ id, name: string }, ['id', 'name']);
  return take({
    paths: {
      '/things': { get: answers(list(thing)), post: { ...sends(thing), ...answers(thing, {}, '201') } },
      '/things/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: id }],
        get: answers(thing),
      },
    },
  });
}

async function over<T>(document: object, options: ServeOptions, look: (service: Service) => Promise<T>): Promise<T> {
  const service = await serve(document as never, options);
  try {
    return await look(service);
  } finally {
    await service.close();
  }
}

async function names(service: Service): Promise<{ id: unknown; name: string }[]> {
  const response = await service.fetch(new Request('http://127.0.0.1/things'));
  const told = await response.json();
  assert.equal(response.status, 200, JSON.stringify(told));
  return told as { id: unknown; name: string }[];
}

const rows = { thing: [{ name: 'A' }, { name: 'B' }] };

for (const [how, id, looks] of [
  ['a UUID', uuid, (one: unknown) => /^[\da-f]{8}-[\da-f-]{27}$/.test(String(one))],
  ['a word', { type: 'string' }, (one: unknown) => typeof one === 'string' && one !== ''],
  ['a number', { type: 'integer' }, (one: unknown) => Number.isInteger(one)],
] as const)
  test(`of a stand-in, rows whose identifier is ${how} need none, at the start and by the workbench`, async () => {
    const document = described(id);
    await over(document, { sample: true, rows }, async (service) => {
      assert.equal(await service.workbench?.seed({ thing: [{ name: 'C' }] }), 1);
      const shown = await names(service);
      assert.deepEqual(shown.map(({ name }) => name).sort(), ['A', 'B', 'C']);
      for (const one of shown) assert.ok(looks(one.id), JSON.stringify(one));
      assert.equal(new Set(shown.map((one) => one.id)).size, 3);
    });
  });

test('of a service, rows get what it makes, numbers that are taken are passed over, and what clients give is asked for', async () => {
  const service = (generate: string, type: string) => ({
    title: 'Things',
    resources: { thing: { identifier: { field: 'id', generate }, fields: { id: type, name: 'string' }, required: ['id'] } },
    endpoints: { 'GET /things': { does: 'list thing', order: ['id'] } },
    authentication: 'none',
  });
  const given = { thing: [{ id: 1, name: 'A' }, { name: 'B' }, { id: 3, name: 'C' }, { name: 'D' }] };
  assert.deepEqual(await over(service('integer', 'integer'), { rows: given }, names), [
    { id: 1, name: 'A' },
    { id: 2, name: 'B' },
    { id: 3, name: 'C' },
    { id: 4, name: 'D' },
  ]);
  const made = await over(service('thg_{ulid}', 'string'), { rows }, names);
  for (const { id } of made) assert.match(String(id), /^thg_/);
  await assert.rejects(over(service('client', 'string'), { rows }, names), { message: 'thing[0] has no id.' });
});
