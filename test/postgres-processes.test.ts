import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { movableClock, type Service, serve } from '../src/index.ts';
import { copyBetween } from '../src/serve/service/open-store.ts';
import { CommitFailed, CommitUnknown, StoreUnavailable } from '../src/store/failures.ts';
import { openPostgres } from '../src/store/postgres/open.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { noRows, row, table } from './store-engines.ts';
import { fillForCopy, lookAtCopy } from './stores/copied.ts';
import { makeDatabase } from './stores/database.ts';
import { testDatabase } from './stores/postgres.ts';

/** Stores over one schema, as several processes have them. */
async function several(test: TestContext, count: number, database = testDatabase()): Promise<Store[]> {
  const address = new URL(await database);
  address.searchParams.set('schema', `t${randomUUID().replaceAll('-', '')}`);
  const stores = Array.from({ length: count }, () => openPostgres(address.href));
  test.after(() => Promise.all(stores.map((store) => store.close())));
  return stores;
}

const parcels = table('parcel', ['slug:text'], { unique: ['slug'] });

test('changes of several processes come one after the other: nothing is lost, taken twice or numbered twice', async (context) => {
  const stores = await several(context, 3);
  for (const store of stores) await store.prepare([parcels], noRows);
  await stores[0]!.change((tx) => tx.insert('parcel', row('sum', null)));
  const results = await Promise.allSettled(
    Array.from({ length: 90 }, (_, at) =>
      stores[at % 3]!.change((tx) => {
        const sum = tx.get('parcel', 'sum')!;
        const { n = 0 } = JSON.parse(sum.doc) as { n?: number };
        tx.insert('parcel', row(`r${at}`, `slug ${at % 30}`));
        tx.update('parcel', { id: 'sum', entered: 0, doc: JSON.stringify({ n: n + 1 }), columns: [null] });
        return [tx.next('number'), tx.addTo('counter', 1, 0, 100)];
      }),
    ),
  );
  const done = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  assert.equal(done.length, 30, 'each unique value was given once');
  for (const place of [0, 1])
    assert.deepEqual(
      done.map((numbers) => numbers[place]!).toSorted((a, b) => a - b),
      Array.from({ length: 30 }, (_, at) => at + 1),
    );
  const read = await stores[1]!.read((rows) => [rows.get('parcel', 'sum')?.doc, rows.count({ table: 'parcel' }, [])]);
  assert.deepEqual(read, ['{"n":30}', 31]);
});

test('one process has the work at a time, and gives it back to another', async (context) => {
  const [first, second] = (await several(context, 2)) as [Store, Store];
  const held = (store: Store, heard: (isHeld: boolean) => void) => store.shared!.share('timers', heard);
  const giveBack = await new Promise<() => Promise<void>>((resolve) => {
    const back: () => Promise<void> = held(first, (isHeld) => isHeld && resolve(() => back()));
  });
  assert.deepEqual(await first.change((tx) => tx.holds('timers')), true);
  const taken = Promise.withResolvers<void>();
  const told: boolean[] = [];
  held(second, (isHeld) => {
    told.push(isHeld);
    if (isHeld) taken.resolve();
  });
  assert.equal(await second.change((tx) => tx.holds('timers')), false);
  await giveBack();
  await taken.promise;
  assert.equal(told.at(-1), true);
  assert.deepEqual(await Promise.all([first, second].map((store) => store.change((tx) => tx.holds('timers')))), [false, true]);
});

test('work that ran out and was taken anew is begun anew', async (context) => {
  const database = testDatabase();
  const address = new URL(await database);
  address.searchParams.set('schema', `t${randomUUID().replaceAll('-', '')}`);
  const store = openPostgres(address.href);
  const admin = new Client({ connectionString: await database });
  await admin.connect();
  context.after(async () => {
    await store.close();
    await admin.end();
  });
  const told: boolean[] = [];
  const again = Promise.withResolvers<void>();
  store.shared!.share('deliveries', (isHeld) => {
    told.push(isHeld);
    if (told.length === 3) again.resolve();
  });
  await until(async () => told.length > 0);
  // As where the process was held up for longer than its lease, and no other was there to take it.
  await admin.query(`UPDATE "${address.searchParams.get('schema')}".ninefold_leases SET expires = 1`);
  await again.promise;
  assert.deepEqual(told, [true, false, true]);
});

test('what another process changed is heard of also where this one changes the same before it looks', {
  timeout: 30_000,
}, async (context) => {
  const address = new URL(await testDatabase());
  address.searchParams.set('schema', `t${randomUUID().replaceAll('-', '')}`);
  // Without notices it looks twice a second.
  address.searchParams.set('plain', 'true');
  const [first, second] = [openPostgres(address.href), openPostgres(address.href)];
  context.after(() => Promise.all([first.close(), second.close()]));
  const heard = new Set<string>();
  first.shared!.watch((marks) => {
    for (const mark of marks) heard.add(mark);
  });
  await until(async () => heard.has('credentials'));
  const put = (store: Store, name: string) =>
    store.change((tx) =>
      tx.putCredential({ name, serial: 1, scheme: 'key', lookup: name, user: 'keeper', caller: 'a', doc: '{}' }),
    );
  for (const times of [1, 2, 3, 4, 5]) {
    heard.clear();
    await put(second, `theirs ${times}`);
    await put(first, `ours ${times}`);
    await until(async () => heard.has('credentials'));
  }
  heard.clear();
  await put(first, 'ours alone');
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([...heard], [], 'its own changes are nothing to hear of');
});

test('a session is closed once what was asked over it is answered, and the process goes on after it', async () => {
  const program = `
    import { pgServer } from ${JSON.stringify(import.meta.resolve('../src/store/postgres/server.ts'))};
    const server = pgServer(process.env.ADDRESS, 'the database', { prepares: true });
    const connection = await server.connect();
    const asked = connection.send([{ text: 'SELECT pg_sleep(0.3)', values: [] }]);
    await connection.close();
    await asked.catch(() => {});
    console.log('closed');
  `;
  const words = ['--input-type=module', '--disable-warning=ExperimentalWarning', '--eval', program];
  const env = { ...process.env, ADDRESS: await testDatabase() };
  const { stdout } = await promisify(execFile)(process.execPath, words, { env });
  assert.equal(stdout, 'closed\n');
});

const lamps = {
  title: 'Lamps',
  resources: {
    lamp: {
      identifier: { field: 'id', generate: 'client' },
      fields: {
        id: 'string',
        at: { type: 'string', format: 'date-time' },
        lit: { type: 'integer', readOnly: true, default: 0, set: { light: 'resource.lit + 1' } },
        state: { type: 'string', readOnly: true },
      },
      required: ['id', 'at', 'lit', 'state'],
    },
  },
  states: {
    lamp: { field: 'state', initial: 'on', states: ['on'], transitions: { light: { from: 'on', to: 'on', at: 'resource.at' } } },
  },
  endpoints: { 'POST /lamps': { does: 'create lamp' }, 'GET /lamps/{id}': { does: 'read lamp' } },
  purpose: { users: { keeper: 'Keeps lamps.' } },
  authentication: {
    schemes: { key: { type: 'api_key', header: 'X-Key' } },
    permissions: [{ allow: ['create lamp', 'read lamp'], to: ['keeper'] }],
  },
};

/** Two services over one schema, with one clock. */
async function lampServices(test: TestContext) {
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const services: Service[] = [];
  for (const store of await several(test, 2)) services.push(await serve(lamps, { clock, store }));
  test.after(() => Promise.all(services.map((service) => service.close())));
  const [first, second] = services as [Service, Service];
  // What comes back of `keys add` is the key and its secret.
  const made = (await first.administer('keys add', { user: 'keeper', id: 'k1' })) as { key: string; secret: string };
  const send = async (service: Service, method: string, path: string, body?: unknown) => {
    const headers = { 'x-key': made.secret, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const answer = await service.fetch(
      new Request(`http://127.0.0.1${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
    );
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { clock, first, second, key: made.key, send };
}

/** Asks again until it is so: what another process has changed is heard of soon, and nobody says when. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('processes that begin at once over a new store serve it all', async (context) => {
  const stores = await several(context, 3);
  const services = await Promise.all(stores.map((store) => serve(lamps, { store })));
  context.after(() => Promise.all(services.map((service) => service.close())));
  for (const [index, store] of stores.entries())
    await store.change((tx) => tx.keep(`one of ${index}`, { fingerprint: '', body: '', expiresMs: Number.MAX_SAFE_INTEGER }));
});

test('rows of what a document does not have any more are counted', async (context) => {
  const [store] = await several(context, 1);
  await store!.prepare([parcels], noRows);
  await store!.change((tx) => tx.insert('parcel', row('a', 'x')));
  assert.deepEqual(await store!.tablesBeside([]), [{ name: 'parcel', count: 1 }]);
});

test('what is made by one process is read by the other, and a timer of it is fired once', async (context) => {
  const { clock, first, second, send } = await lampServices(context);
  const at = '2026-06-01T09:01:00Z';
  for (let n = 0; n < 8; n++) {
    const { status } = await send(n % 2 === 0 ? first : second, 'POST', '/lamps', { id: `l${n}`, at });
    assert.equal(status, 201);
  }
  clock.advance(60_000);
  const lit = async () => {
    const all = await Promise.all(Array.from({ length: 8 }, (_, n) => send(n % 2 === 0 ? second : first, 'GET', `/lamps/l${n}`)));
    return all.map(({ body }) => body.lit);
  };
  await until(async () => (await lit()).every((count) => count !== 0));
  // Whoever takes the work next finds nothing left to do.
  await first.close();
  await second.settled();
  const { body } = await send(second, 'GET', '/lamps/l0');
  assert.equal(body.lit, 1);
});

test('a key that one process revokes is refused by the other', async (context) => {
  const { first, second, key, send } = await lampServices(context);
  assert.equal((await send(first, 'POST', '/lamps', { id: 'l', at: '2026-06-01T09:01:00Z' })).status, 201);
  assert.equal((await send(second, 'GET', '/lamps/l')).status, 200);
  await first.administer('keys revoke', { key });
  await until(async () => (await send(second, 'GET', '/lamps/l')).status === 401);
});

test('each of several keys that are revoked one after the other, while nothing else changes, is refused by the other', async (context) => {
  const { first, second } = await lampServices(context);
  const statusOf = async (secret: string) =>
    (await second.fetch(new Request('http://127.0.0.1/lamps/none', { headers: { 'x-key': secret } }))).status;
  for (const id of ['a', 'b', 'c']) {
    // What comes back of `keys add` is the key and its secret.
    const { key, secret } = (await first.administer('keys add', { user: 'keeper', id })) as { key: string; secret: string };
    await until(async () => (await statusOf(secret)) === 404);
    await first.administer('keys revoke', { key });
    await until(async () => (await statusOf(secret)) === 401);
  }
});

test('what cannot be read for now is 503, and may be asked for again', async (context) => {
  const own = await makeDatabase();
  const [store] = await several(context, 1, Promise.resolve(own.address));
  const document = {
    resources: { note: { identifier: { field: 'id', generate: 'integer' }, fields: { id: 'integer' } } },
    endpoints: { 'GET /notes': { does: 'list note' }, 'POST /notes': { does: 'create note' } },
  };
  const failures: unknown[] = [];
  const service = await serve(document, { store: store!, onFailure: (failure) => failures.push(failure) });
  context.after(() => service.close());
  const statusOf = async (method: string) => {
    const body = method === 'POST' ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
    const { status, headers } = await service.fetch(new Request('http://127.0.0.1/notes', { method, ...body }));
    return [status, headers.get('retry-after')];
  };
  assert.deepEqual(
    [await statusOf('POST'), await statusOf('GET')],
    [
      [201, null],
      [200, null],
    ],
  );
  await own.drop();
  // The first to be asked may be the one that is told of the end of its session.
  for (const method of ['GET', 'POST', 'GET', 'POST']) assert.deepEqual(await statusOf(method), [503, '5'], method);
  assert.ok(failures.every((failure) => failure instanceof StoreUnavailable));
});

test('a process whose tables another document has replaced stores nothing more', async (context) => {
  const [older, newer] = (await several(context, 2)) as [Store, Store];
  await older.prepare([parcels], noRows);
  await newer.prepare([table('parcel', ['slug:text', 'weight:integer'], { unique: ['slug'] })], noRows);
  await assert.rejects(
    older.change((tx) => tx.insert('parcel', row('a', 'x'))),
    /another document/,
  );
  await newer.change((tx) => tx.insert('parcel', row('a', 'x', 1)));
});

test('what was asked over a session that has ended is asked over another', async (context) => {
  const { address, drop } = await makeDatabase();
  const [store] = await several(context, 1, Promise.resolve(address));
  await store!.prepare([parcels], noRows);
  const killer = new Client({ connectionString: address });
  await killer.connect();
  context.after(async () => {
    await killer.end();
    await drop();
  });
  const asks = [
    () => store!.change((tx) => tx.next('number')),
    () => store!.read((rows) => rows.count({ table: 'parcel' }, [])),
    () => store!.nextDue(),
    () => store!.setting('name', () => 'value'),
    () => store!.tablesBeside([]),
  ];
  for (const ask of asks) {
    await ask();
    await killer.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await ask();
  }
});

test('sessions that are killed again and again: what was acknowledged is stored once, and what failed is not', async (context) => {
  // A database of its own: others' sessions are not for it to kill.
  const { address, drop } = await makeDatabase();
  const stores = await several(context, 2, Promise.resolve(address));
  for (const store of stores) await store.prepare([parcels], noRows);
  await stores[0]!.change((tx) => tx.insert('parcel', row('sum', null)));
  const killer = new Client({ connectionString: address });
  await killer.connect();
  context.after(async () => {
    await killer.end();
    await drop();
  });
  const [acknowledged, failed, unknown] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (let kill = 0; kill < 25; kill++) {
    const changes = Array.from({ length: 20 }, (_, at) => {
      const id = `k${kill}.${at}`;
      const change = stores[at % 2]!.change((tx) => {
        const { n = 0 } = JSON.parse(tx.get('parcel', 'sum')!.doc) as { n?: number };
        tx.insert('parcel', row(id, id));
        tx.update('parcel', { id: 'sum', entered: 0, doc: JSON.stringify({ n: n + 1 }), columns: [null] });
      });
      return change.then(
        () => acknowledged.add(id),
        (error: unknown) => {
          assert.ok(error instanceof CommitFailed, String(error));
          (error instanceof CommitUnknown ? unknown : failed).add(id);
        },
      );
    });
    for (let turn = 0; turn < kill % 7; turn++) await new Promise((resolve) => setImmediate(resolve));
    await killer.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await Promise.all(changes);
  }
  const [ids, sum] = await stores[1]!.read((rows) => [
    rows.all({ table: 'parcel' }, []).map(({ id }) => id),
    rows.get('parcel', 'sum')?.doc,
  ]);
  assert.equal(unknown.size, 0);
  assert.deepEqual(new Set(ids), new Set(['sum', ...acknowledged]));
  assert.equal(sum, ids.length === 1 ? '{"id":"sum"}' : `{"n":${ids.length - 1}}`);
  assert.equal(acknowledged.size + failed.size, 500);
});

/** Notes in their first version, or in the second, which renames a field and adds one. */
function notes(version: 1 | 2) {
  const fields = version === 1 ? { id: 'string', text: 'string' } : { id: 'string', title: 'string', kind: 'string' };
  return {
    title: 'Notes',
    resources: { note: { identifier: { field: 'id', generate: 'client' }, fields, required: Object.keys(fields) } },
    endpoints: {
      'POST /notes': { does: 'create note' },
      'GET /notes/{id}': { does: 'read note' },
      'PATCH /notes/{id}': { does: 'update note' },
    },
    authentication: 'none',
    versioning: {
      versions: version === 1 ? { v1: { current: true } } : { v1: {}, v2: { current: true } },
      select: { header: 'V', default: 'current' },
      ...(version === 2 && {
        changes: {
          v2: [
            { rename: 'note.text', to: 'title' },
            { add: 'note.kind', default: 'plain' },
          ],
        },
      }),
    },
  };
}

/** Asks for something of version 1. */
async function asV1(service: Service, method: string, path: string, body?: unknown) {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { v: 'v1', ...(body !== undefined && { 'content-type': type }) };
  const answer = await service.fetch(
    new Request(`http://127.0.0.1${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
  );
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('a process goes on with the newer document that another one brings rows up to, and fails no request meanwhile', async (context) => {
  const [old, later] = (await several(context, 2)) as [Store, Store];
  const first = await serve(notes(1), { store: old });
  context.after(() => first.close());
  let isOver = false;
  const statuses: number[] = [];
  const asking = Array.from({ length: 4 }, async (_, lane) => {
    for (let n = 0; !isOver || n < 3; n++) {
      const id = `${lane}.${n}`;
      const made = await asV1(first, 'POST', '/notes', { id, text: id });
      const changed = await asV1(first, 'PATCH', `/notes/${id}`, { text: `${id}!` });
      const read = await asV1(first, 'GET', `/notes/${id}`);
      statuses.push(made.status, changed.status, read.status);
      assert.deepEqual(read.body, { id, text: `${id}!` });
    }
  });
  const second = await serve(notes(2), { store: later });
  context.after(() => second.close());
  isOver = true;
  await Promise.all(asking);
  assert.deepEqual([...new Set(statuses)].toSorted(), [200, 201]);
  assert.deepEqual((await asV1(second, 'GET', '/notes/0.0')).body, { id: '0.0', text: '0.0!' });
  const now = await first.fetch(new Request('http://127.0.0.1/notes/0.0'));
  assert.deepEqual(await now.json(), { id: '0.0', title: '0.0!', kind: 'plain' });
});

test('a process with code of its own does not go on with another document: its requests are 503', async (context) => {
  const [old, later] = (await several(context, 2)) as [Store, Store];
  const first = await serve(notes(1), { store: old, handlers: { other: () => ({}) } });
  const second = await serve(notes(2), { store: later });
  context.after(() => Promise.all([first, second].map((service) => service.close())));
  assert.equal((await asV1(first, 'POST', '/notes', { id: 'a', text: 'a' })).status, 503);
  assert.equal((await asV1(first, 'GET', '/notes/a')).status, 503);
  assert.equal((await asV1(second, 'POST', '/notes', { id: 'a', text: 'a' })).status, 201);
});

test('a store is copied into a database and back, and a service goes on over each copy', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-copy-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const address = new URL(await testDatabase());
  address.searchParams.set('schema', `t${randomUUID().replaceAll('-', '')}`);
  const [first, last, rows] = [join(folder, 'first.sqlite'), join(folder, 'last.sqlite'), 700];
  const secret = await fillForCopy(first, openSqlite, rows);
  const there = await copyBetween(first, address.href, () => {});
  const back = await copyBetween(address.href, last, () => {});
  assert.deepEqual(back, there);
  await assert.rejects(
    copyBetween(first, address.href, () => {}),
    /holds something already/,
  );
  for (const [path, open] of [
    [address.href, openPostgres],
    [last, openSqlite],
  ] as const)
    await lookAtCopy(path, open, secret, rows);
});

test('a database that processes serve is not copied', async (context) => {
  const address = new URL(await testDatabase());
  address.searchParams.set('schema', `t${randomUUID().replaceAll('-', '')}`);
  const store = openPostgres(address.href);
  const service = await serve(lamps, { store });
  context.after(async () => {
    await service.close();
    await store.close();
  });
  await assert.rejects(
    copyBetween(address.href, ':memory:', () => {}),
    /is served by processes; stop them first/,
  );
});
