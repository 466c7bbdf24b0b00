import assert from 'node:assert/strict';
import { get } from 'node:http';
import { test } from 'node:test';
import { movableClock, parseDocument, type Service, serve } from '../src/index.ts';
import { ReadTooLong } from '../src/store/failures.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { slices } from './store-engines.ts';

const count = 2500;
const notes = Array.from({ length: count }, (_, n) => ({
  id: `n${n}`,
  text: `text ${n}, ${'and so on '.repeat(20)}`,
  shown: true,
}));

const document = (endpoints: string, limits = '') => `
resources:
  note:
    identifier: { field: id, generate: client }
    fields: { id: string, text: string, shown: boolean }
    required: [id, text, shown]
endpoints:
  PATCH /notes/{id}: { does: update note }
  DELETE /notes/{id}: { does: delete note }
  GET /notes/{id}: { does: read note }
  ${endpoints}
authentication:
  schemes: { key: { type: api_key, header: Key, generate: "{random:24}" } }
  accept: [key]
  permissions:
    - { allow: [read note, list note], to: anyone, if: resource.shown }
    - { allow: [update note, delete note], to: owner }
purpose: { users: { owner: Keeps notes. } }
limits: { pagination: { style: none }, ${limits} }
`;

interface Asked {
  readonly service: Service;
  readonly list: (path?: string, headers?: Record<string, string>) => Promise<Response>;
  readonly clock: ReturnType<typeof movableClock>;
  readonly failures: unknown[];
}

async function withNotes(text: string, body: (asked: Asked) => Promise<void>, rows = notes): Promise<void> {
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const failures: unknown[] = [];
  const service = await serve(parseDocument(text, 'notes.yaml'), {
    clock,
    rows: { note: rows },
    development: true,
    onFailure: (failure) => failures.push(failure),
  });
  const list = (path = '/notes', headers = {}) =>
    Promise.resolve(service.fetch(new Request(`http://127.0.0.1${path}`, { headers })));
  try {
    await body({ service, list, clock, failures });
  } finally {
    await service.close();
  }
}

async function change(service: Service, method: string, id: string, body?: object): Promise<number> {
  const [owner] = service.credentials;
  const headers = { key: owner!.value, 'content-type': 'application/json' };
  const request = new Request(`http://127.0.0.1/notes/${id}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return (await service.fetch(request)).status;
}

test('a list without pages holds all rows in their order, however many they are, over a socket and in process', () =>
  withNotes(
    document('GET /notes: { does: list note, parameters: { sort: { in: query, enum: [-text], sorts: true } } }'),
    async (asked) => {
      assert.deepEqual(await (await asked.list()).json(), notes);
      const { url, close } = await asked.service.listen({ port: 0 });
      const sorted = [...notes].sort((a, b) => (a.text < b.text ? 1 : -1));
      const heads = await fetch(`${url}/notes?sort=-text`);
      assert.deepEqual([heads.status, heads.headers.get('content-type')], [200, 'application/json']);
      assert.deepEqual(await heads.json(), sorted);
      assert.equal((await fetch(`${url}/notes`, { method: 'HEAD' })).status, 200);
      await close();
      assert.deepEqual(asked.failures, []);
    },
  ));

test('what is not read yet is shown as it is when its piece is written: changed, gone, or hidden since', () =>
  withNotes(document('GET /notes: { does: list note }'), async ({ service, list }) => {
    const response = await list();
    const statuses = [
      await change(service, 'PATCH', 'n2400', { text: 'changed' }),
      await change(service, 'PATCH', 'n2401', { shown: false }),
      await change(service, 'DELETE', 'n2402'),
    ];
    assert.deepEqual(statuses, [200, 204, 204]);
    const shown = (await response.json()) as typeof notes;
    const gone = ['n2401', 'n2402'];
    assert.deepEqual(
      shown.map(({ id }) => id),
      notes.map(({ id }) => id).filter((id) => !gone.includes(id)),
    );
    assert.equal(shown.find(({ id }) => id === 'n2400')?.text, 'changed');
  }));

test('a list that is being written is cut off once the time of its request is over, and told', () =>
  withNotes(document('GET /notes: { does: list note }', 'timeout: { request: 10s }'), async ({ list, clock, failures }) => {
    const response = await list();
    assert.equal(response.status, 200);
    clock.advance(10_001);
    await assert.rejects(response.text());
    assert.ok(failures[0] instanceof ReadTooLong);
  }));

test('a list of which nothing is taken is cut off at its time, and without one after a minute', async () => {
  for (const [limits, ms] of [
    ['timeout: { request: 10s }', 10_001],
    ['', 60_001],
  ] as const)
    await withNotes(document('GET /notes: { does: list note }', limits), async ({ list, clock, failures }) => {
      const response = await list();
      await untilFull(response);
      assert.equal(failures.length, 0);
      clock.advance(ms);
      for (let turns = 0; failures.length === 0; turns++) {
        assert.ok(turns < 10_000, 'a list waits for ever');
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.ok(failures[0] instanceof ReadTooLong);
      await assert.rejects(response.text());
    });
});

/** Lets a list be written until it waits for its reader. */
async function untilFull({ body }: Response): Promise<void> {
  assert.ok(body);
  for (let turns = 0; turns < 200; turns++) await new Promise((resolve) => setImmediate(resolve));
}

test('a long list is told its tag where one is stated, and not sent again to whoever has it', () =>
  withNotes(document('GET /notes: { does: list note, etag: strong }'), async ({ service, list }) => {
    const first = await list();
    const etag = first.headers.get('etag')!;
    assert.deepEqual(await first.json(), notes);
    assert.equal((await list('/notes', { 'if-none-match': etag })).status, 304);
    assert.equal(await change(service, 'PATCH', 'n2400', { text: 'changed' }), 200);
    assert.equal((await list('/notes', { 'if-none-match': etag })).status, 200);
  }));

test('where something is made of all rows of a list together there are at most 10,000', () => {
  const many = Array.from({ length: 10_001 }, (_, n) => ({ id: `n${n}`, text: 't', shown: n > 0 }));
  const endpoint = `GET /notes:
    does: list note
    response: { 200: { shape: { type: object, properties: { count: integer } }, data: { count: "size(items)" } } }`;
  return withNotes(
    document(endpoint),
    async ({ service, list, failures }) => {
      assert.deepEqual(await (await list()).json(), { count: 10_000 });
      assert.equal(await change(service, 'PATCH', 'n0', { shown: true }), 200);
      const { status, headers } = await list();
      assert.deepEqual([status, headers.get('retry-after')], [503, '5']);
      assert.ok(failures[0] instanceof ReadTooLong);
    },
    many,
  );
});

test('a client that takes nothing holds nobody up, and one that goes ends its list', () =>
  withNotes(document('GET /notes: { does: list note }'), async ({ service, failures }) => {
    const { url, close } = await service.listen({ port: 0 });
    const response = await new Promise<import('node:http').IncomingMessage>((resolve) => get(`${url}/notes`, resolve));
    assert.equal((await fetch(`${url}/notes/n3`)).status, 200);
    response.destroy();
    assert.deepEqual(await (await fetch(`${url}/notes`)).json(), notes);
    await close();
    assert.deepEqual(failures, []);
  }));

test('a long list that no turn of the event loop suffices for is whole', async () => {
  const store = openSqlite(':memory:', { longReads: { ...slices, sliceRows: [256, 512] } });
  const service = await serve(parseDocument(document('GET /notes: { does: list note }'), 'notes.yaml'), {
    store,
    rows: { note: notes },
  });
  const response = await service.fetch(new Request('http://127.0.0.1/notes'));
  assert.deepEqual(((await response.json()) as typeof notes).length, count);
  await service.close();
  await store.close();
});
