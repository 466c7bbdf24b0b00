import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { openPostgres } from '../src/store/postgres/open.ts';
import type { QuerySpec, Store } from '../src/store/store.ts';
import { noRows, row, table } from './store-engines.ts';
import { testDatabase } from './stores/postgres.ts';

const tables = [table('slow', ['t:text']), table('quick', ['t:text'])];
const all = (name: string): QuerySpec => ({ table: name });

/** A store of which one table is held by somebody else, so that questions about it take as long as that lasts. */
async function held(context: TestContext): Promise<{ store: Store; client: Client; release: () => Promise<unknown> }> {
  const address = new URL(await testDatabase());
  const schema = `t${randomUUID().replaceAll('-', '')}`;
  const client = new Client({ connectionString: address.href });
  address.searchParams.set('schema', schema);
  const store = openPostgres(address.href);
  await store.prepare(tables, noRows);
  await store.change((rows) => {
    for (const name of ['slow', 'quick']) for (let n = 0; n < 3; n++) rows.insert(name, row(`${n}`, `name ${n}`));
  });
  await client.connect();
  context.after(() => client.end());
  const found = await client.query(
    `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = $1 AND tablename LIKE '%slow%'`,
    [schema],
  );
  // Inside a transaction others are seen as they were when it began.
  const holder = new Client({ connectionString: address.href });
  await holder.connect();
  context.after(() => holder.end());
  await holder.query('BEGIN');
  await holder.query(`LOCK TABLE ${found.rows[0].name} IN ACCESS EXCLUSIVE MODE`);
  return { store, client, release: () => holder.query('COMMIT') };
}

/** How many sessions of the database wait for a lock that others hold. */
async function waiting(client: Client): Promise<number> {
  const { rows } = await client.query(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ninefold' AND wait_event_type = 'Lock'`,
  );
  return rows[0].n;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('whoever asks for rows by their keys, or for a quick list, waits for no long one, however many there are', async (context) => {
  const { store, client, release } = await held(context);
  context.after(() => store.close());
  const long = Array.from({ length: 9 }, (_, n) => store.read((rows) => rows.all({ ...all('slow') }, []).length + n));
  await until(async () => (await waiting(client)) === 4);
  for (let n = 0; n < 3; n++) {
    assert.equal(await store.read((rows) => rows.get('quick', '1')?.id), '1');
    assert.equal(await store.read((rows) => rows.count(all('quick'), [])), 3);
    await store.change((rows) => rows.update('quick', row('1', `again ${n}`)));
  }
  await release();
  assert.deepEqual(await Promise.all(long), [3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test('a long read that nobody waits for any more is ended in the database too', async (context) => {
  const { store, client, release } = await held(context);
  context.after(() => store.close());
  const gone = new Error('nobody waits');
  let isWanted = true;
  const goesOn = () => {
    if (!isWanted) throw gone;
  };
  const reading = store.read((rows) => rows.all(all('slow'), []), goesOn);
  await until(async () => (await waiting(client)) === 1);
  isWanted = false;
  await assert.rejects(async () => reading, gone);
  await until(async () => (await waiting(client)) === 0);
  await release();
  assert.equal(await store.read((rows) => rows.count(all('slow'), [])), 3);
});

test('a store that is closed ends what takes long', async (context) => {
  const { store, client, release } = await held(context);
  const reading = Promise.resolve(store.read((rows) => rows.all(all('slow'), []))).catch((error: unknown) => error);
  await until(async () => (await waiting(client)) === 1);
  await store.close();
  assert.match(String(await reading), /closed/);
  await release();
});
