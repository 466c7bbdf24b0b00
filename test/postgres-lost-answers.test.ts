import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { openPostgres } from '../src/store/postgres/open.ts';
import type { Store } from '../src/store/store.ts';
import { noRows, row, table } from './store-engines.ts';
import { startOwnPostgres } from './stores/own-postgres.ts';
import { testDatabase } from './stores/postgres.ts';

/** A commit on its way to the database. */
interface Commit {
  /** Lets it go there, and resolves once the database has answered, with what came before that; nobody is told. */
  arrive(): Promise<Buffer>;
  /** Ends the session on both sides, after some bytes for whoever asked. */
  cut(last?: Buffer): void;
}

interface Way {
  readonly address: string;
  /** The next commit is held, and what comes back after it. */
  commit(): Promise<Commit>;
}

/** How the database says that it has committed (https://www.postgresql.org/docs/current/protocol-message-formats.html, CommandComplete). */
const committed = Buffer.from('C\0\0\0\x0bCOMMIT\0');

/** A way to a database on which something can happen to a commit. */
async function wayTo(context: TestContext, database: string): Promise<Way> {
  const { hostname, port } = new URL(database);
  let held: ((commit: Commit) => void) | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((asking) => {
    const asked = createConnection(Number(port), hostname);
    let isHeld = false;
    let back = Buffer.alloc(0);
    let arrived = (_before: Buffer) => {};
    const cut = (last?: Buffer) => {
      asking.end(last ?? '');
      asked.destroy();
    };
    asking.on('data', (bytes) => {
      // It stands in what prepares the statement, which a session does once.
      if (!held || !bytes.includes('COMMIT')) return asked.write(bytes);
      isHeld = true;
      const arrive = () =>
        new Promise<Buffer>((resolve) => {
          arrived = resolve;
          asked.write(bytes);
        });
      held({ arrive, cut });
      held = undefined;
    });
    asked.on('data', (bytes) => {
      if (!isHeld) return asking.write(bytes);
      back = Buffer.concat([back, bytes]);
      const at = back.indexOf(committed);
      if (at >= 0) arrived(back.subarray(0, at));
    });
    for (const [socket, other] of [
      [asking, asked],
      [asked, asking],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      // A session that is held ends when it is cut.
      socket.on('close', () => isHeld || other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = new URL(database);
  address.hostname = '127.0.0.1';
  // A server that listens on a port has an address that is no text.
  address.port = String((server.address() as AddressInfo).port);
  return {
    address: address.href,
    commit: () =>
      new Promise((resolve) => {
        held = resolve;
      }),
  };
}

const parcels = table('parcel', ['slug:text'], { unique: ['slug'] });

/** Stores over one schema, each by a way of its own. */
async function stores(context: TestContext, ways: readonly string[], more = ''): Promise<Store[]> {
  const schema = `t${randomUUID().replaceAll('-', '')}`;
  const opened = ways.map((way) => openPostgres(`${way}?schema=${schema}${more}`));
  context.after(() => Promise.all(opened.map((store) => store.close())));
  for (const store of opened) await store.prepare([parcels], noRows);
  return opened;
}

/** Stores a row of the next number, and gives that. */
function add(store: Store): Promise<number> {
  return store.change((tx) => {
    const number = tx.next('number');
    tx.insert('parcel', row(`r${number}`, `slug ${number}`));
    return number;
  });
}

const countOf = (store: Store) => store.read((rows) => rows.count({ table: 'parcel' }, []));

for (const more of ['', '&plain=true']) {
  test(`a change whose commit arrived, and whose answer was lost, is acknowledged and not done again${more}`, async (context) => {
    const way = await wayTo(context, await testDatabase());
    const [store] = (await stores(context, [way.address], more)) as [Store];
    const held = way.commit();
    const added = add(store);
    const commit = await held;
    await commit.arrive();
    commit.cut();
    assert.equal(await added, 1);
    assert.deepEqual([await add(store), await countOf(store)], [2, 2]);
  });

  test(`a change whose commit never arrived is done over another session${more}`, async (context) => {
    const way = await wayTo(context, await testDatabase());
    const [store] = (await stores(context, [way.address], more)) as [Store];
    const held = way.commit();
    const added = add(store);
    (await held).cut();
    assert.equal(await added, 1);
    assert.deepEqual([await add(store), await countOf(store)], [2, 2]);
  });
}

test('an answer that never comes is not waited for: the session counts as ended', { timeout: 60_000 }, async (context) => {
  const way = await wayTo(context, await testDatabase());
  const [store] = (await stores(context, [way.address], '&answer_timeout=1')) as [Store];
  const held = way.commit();
  const added = add(store);
  await (await held).arrive();
  assert.equal(await added, 1);
  assert.deepEqual([await add(store), await countOf(store)], [2, 2]);
});

/** What a pooler says whose own session with the database has ended. */
function endOfPooler(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C08P01\0Mserver conn crashed?\0\0');
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from('E'), length, fields]);
}

test('where a pooler answers a commit by the end of a session, the database is asked what became of it', async (context) => {
  const way = await wayTo(context, await testDatabase());
  const [store] = (await stores(context, [way.address])) as [Store];
  const held = way.commit();
  const added = add(store);
  const commit = await held;
  commit.cut(Buffer.concat([await commit.arrive(), endOfPooler()]));
  assert.equal(await added, 1);
  assert.deepEqual([await add(store), await countOf(store)], [2, 2]);
});

test('what a crash of the database has undone is not taken for stored because another has its number of a transaction', async (context) => {
  const own = await startOwnPostgres(answers);
  context.after(own.stop);
  const admin = new Client({ connectionString: own.address });
  admin.on('error', () => {});
  await admin.connect();
  // Nothing of a transaction is on disk before its commit.
  await admin.query(`ALTER SYSTEM SET wal_writer_delay = '10s'`);
  await admin.query('SELECT pg_reload_conf()');
  const way = await wayTo(context, own.address);
  const [first, second] = (await stores(context, [way.address, own.address])) as [Store, Store];
  const held = way.commit();
  const added = add(first);
  const commit = await held;
  await own.restart(true, 0);
  const other = await add(second);
  commit.cut();
  assert.deepEqual([other, await added], [1, 2]);
  assert.equal(await countOf(second), 2);
});

test('a schema from before receipts gets them, and those of long ago go', async (context) => {
  const address = await testDatabase();
  const schema = `t${randomUUID().replaceAll('-', '')}`;
  const receipts = `${schema}.ninefold_receipts`;
  const admin = new Client({ connectionString: address });
  await admin.connect();
  context.after(() => admin.end());
  const numbers: number[] = [];
  const [before, between] = [`DROP TABLE ${receipts}`, `UPDATE ${receipts} SET at = now() - interval '31 days'`];
  for (const sql of [before, between, 'SELECT']) {
    const store = openPostgres(`${address}?schema=${schema}`);
    await store.prepare([parcels], noRows);
    numbers.push(await add(store), (await admin.query(`SELECT batch FROM ${receipts}`)).rows.length);
    await store.close();
    await admin.query(sql);
  }
  assert.deepEqual(numbers, [1, 1, 2, 1, 3, 1]);
});

async function answers(address: string): Promise<boolean> {
  const client = new Client({ connectionString: address, connectionTimeoutMillis: 5000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
