import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { openPostgres } from '../src/store/postgres/open.ts';
import { isWhole } from './long.ts';
import { noRows, row, table } from './store-engines.ts';
import { makeDatabase, type TestDatabase } from './stores/database.ts';
import { noPooler, startOwnPooler } from './stores/own-pooler.ts';

/** The ways to a database on which less can be asked of it than of PostgreSQL itself. */
const root = join(import.meta.dirname, '..');
const contract = isWhole
  ? 'test/store{,-changes,-counters,-credentials,-outbox,-queries,-tables}.test.ts'
  : 'test/store{,-changes}.test.ts';
let database: TestDatabase;
let pooler: Awaited<ReturnType<typeof startOwnPooler>>;
/** Where there is no pooler, that is told in place of a result. */
// Where checks are made for everybody, what is not there fails.
const behind = { skip: process.env.CI ? false : (noPooler ?? false) } as const;
/** Through the pooler, and past it for what it passes nothing on of. */
let pooled: URL;

before(async () => {
  database = await makeDatabase();
  if (noPooler !== undefined) return;
  pooler = await startOwnPooler(database.address, 24);
  pooled = new URL(pooler.address);
  pooled.searchParams.set('prepare', 'false');
  pooled.searchParams.set('listen', database.address);
});
after(async () => {
  await pooler?.stop();
  await database?.drop();
});

/** Runs test files on what is at an address; what they print is shown where one fails. */
async function holds(address: string, patterns: readonly string[]): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }));
  assert.ok(files.length >= patterns.length);
  const run = spawn(process.execPath, ['--test', ...files], {
    cwd: root,
    env: { ...rest, NINEFOLD_TEST_STORE: 'postgres', NINEFOLD_TEST_DATABASE: address },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let told = '';
  for (const pipe of [run.stdout, run.stderr]) pipe.on('data', (piece) => (told += piece));
  const [code] = await once(run, 'close');
  assert.equal(code, 0, told.slice(-8000));
  assert.match(told, /pass [1-9]/);
}

test('the contract of the store and several processes need nothing that others lack who speak its protocol', async () => {
  const plain = new URL(database.address);
  plain.searchParams.set('plain', 'true');
  await holds(plain.href, [contract, 'test/postgres-{processes,rates}.test.ts']);
});

test('they hold behind a pooler that gives each transaction another session', behind, async () => {
  await holds(pooled.href, [contract, 'test/postgres-{rates,long-reads}.test.ts']);
});

test('behind a pooler nothing that is said for a session stays in it', behind, async (context) => {
  pooled.searchParams.set('schema', `t${randomUUID().replaceAll('-', '')}`);
  const stores = [openPostgres(pooled.href), openPostgres(pooled.href)] as const;
  context.after(() => Promise.all(stores.map((store) => store.close())));
  for (const store of stores) {
    await store.prepare([table('parcel', ['slug:text'])], noRows);
    const id = randomUUID();
    await store.change((tx) => tx.insert('parcel', row(id, 'a')));
    const reads = Array.from({ length: 9 }, () => store.read((rows) => rows.count({ table: 'parcel' }, [])));
    await Promise.all(reads);
  }
  const settings = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'jit'];
  // As many at once as there are sessions: each transaction has one of its own.
  const clients = Array.from({ length: 12 }, () => new Client({ connectionString: pooler.address }));
  context.after(() => Promise.all(clients.map((client) => client.end())));
  for (const client of clients) {
    await client.connect();
    await client.query('BEGIN');
    const found = await client.query(`SELECT name, reset_val = setting AS is FROM pg_settings WHERE name = ANY($1)`, [settings]);
    assert.deepEqual(
      found.rows.filter(({ is }) => !is),
      [],
    );
  }
});

test('a change of another process is heard of past the pooler', { ...behind, timeout: 30_000 }, async (context) => {
  const [first, second] = [openPostgres(pooled.href), openPostgres(pooled.href)];
  context.after(() => Promise.all([first.close(), second.close()]));
  const heard = Promise.withResolvers<void>();
  first.shared!.watch((marks) => marks.has('credentials') && isBegun && heard.resolve());
  let isBegun = false;
  await first.change((tx) => tx.next('number'));
  isBegun = true;
  const credential = { name: 'n', serial: 1, scheme: 'key', lookup: 'l', user: 'keeper', caller: 'a', doc: '{}' };
  await second.change((tx) => tx.putCredential(credential));
  await heard.promise;
});
