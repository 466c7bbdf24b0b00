import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Client } from 'pg';
import { openPostgres } from '../src/store/postgres/open.ts';
import { noRows, row, table } from './store-engines.ts';
import { testDatabase } from './stores/postgres.ts';

const seats = table('seat', ['level:integer', 'name:text'], { unique: ['name'], indexes: [['level']] });
const rowsLater = 10_000;
const together = 64;

test('rows are found by their keys also in a table that was nearly empty when it was first asked, and has grown', async () => {
  const address = new URL(await testDatabase());
  const schema = `plans_${randomUUID()}`;
  address.searchParams.set('schema', schema);
  const store = openPostgres(address.href);
  await store.prepare([seats], noRows);
  const insert = (from: number, count: number) =>
    store.change((rows) => {
      for (let at = from; at < from + count; at++) rows.insert('seat', row(`s${at}`, at, `name ${at}`));
    });
  const ids = (from: number) => Array.from({ length: together }, (_, at) => from + at);
  // Those that come at once are one batch, which PostgreSQL takes for cheaper without an index while there are few rows.
  const changeAndRead = async (from: number) => {
    await Promise.all(
      ids(from).map((at) => store.change((rows) => void rows.update('seat', row(`s${at}`, at + 1, `other ${at}`)))),
    );
    const found = await Promise.all(ids(from).map((at) => store.read((rows) => rows.get('seat', `s${at}`))));
    assert.ok(found.every(Boolean));
  };
  await insert(0, together);
  // It plans a prepared statement anew for the first five times; then it may keep a plan.
  for (let again = 0; again < 10; again++) await changeAndRead(0);
  await insert(1000, rowsLater);
  for (let again = 0; again < 30; again++) await changeAndRead(1000 + again);
  // A session that ends has told what it read.
  await store.close();
  const read = await readWithoutIndex(testDatabase(), schema);
  assert.ok(read < rowsLater, `${read} rows were gone through`);
});

/** How many rows of a schema's tables were read without an index (PostgreSQL, pg_stat_user_tables). */
async function readWithoutIndex(database: Promise<string>, schema: string): Promise<number> {
  const client = new Client({ connectionString: await database });
  await client.connect();
  try {
    const { rows } = await client.query<{ n: string }>(
      `SELECT sum(seq_tup_read) AS n FROM pg_stat_user_tables WHERE schemaname = $1 AND relname LIKE 'rows:%'`,
      [schema],
    );
    return Number(rows[0]?.n);
  } finally {
    await client.end();
  }
}
