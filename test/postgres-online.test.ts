import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { openPostgres } from '../src/store/postgres/open.ts';
import type { Row, Store } from '../src/store/store.ts';
import { noRows, table } from './store-engines.ts';
import { testDatabase } from './stores/postgres.ts';

/** Large tables are brought up while others go on writing. */
const count = 12_000;
const before = table('parcel', ['weight:integer'], { indexes: [['weight']] });
const after = table('parcel', ['weight:integer', 'town:text'], { indexes: [['weight'], ['town', 'weight']] });
const townOf = (doc: string): string => (JSON.parse(doc) as { town: string }).town;
const columnsOf = (_table: string, { doc }: Row) => [(JSON.parse(doc) as { weight: number }).weight, townOf(doc)];
const parcel = (n: number, town: string) => ({ id: `p${n}`, entered: 0, doc: JSON.stringify({ weight: n, town }) });

async function filled(context: TestContext) {
  const schema = `t${randomUUID().replaceAll('-', '')}`;
  const address = new URL(await testDatabase());
  const client = new Client({ connectionString: address.href });
  await client.connect();
  address.searchParams.set('schema', schema);
  const open = () => {
    const store = openPostgres(address.href);
    context.after(() => store.close());
    return store;
  };
  context.after(() => client.end());
  const store = open();
  await store.prepare([before], noRows);
  for (let from = 0; from < count; from += 4000)
    await store.change((tx) => {
      for (let n = from; n < from + 4000; n++) tx.insert('parcel', { ...parcel(n, `town ${n % 7}`), columns: [n] });
    });
  return { store, open, client, schema };
}

/** Every row has the town of its text, and the database finds it by that. */
async function assertFound(store: Store, rows: number): Promise<void> {
  const all = await store.read((reader) => reader.scan('parcel', 0, rows + 1));
  assert.equal(all.length, rows);
  const towns = [...new Set(all.map(({ doc }) => townOf(doc)))];
  const where = { op: '=' as const, left: { column: 'town' }, right: { param: 0 } };
  for (const town of towns) {
    const found = await store.read((reader) => reader.count({ table: 'parcel', where }, [town]));
    assert.equal(found, all.filter(({ doc }) => townOf(doc) === town).length, town);
  }
}

async function indexesOf(client: Client, schema: string): Promise<boolean[]> {
  const { rows } = await client.query(
    `SELECT i.indisvalid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname LIKE 'index:%'`,
    [schema],
  );
  return rows.map(({ indisvalid }) => indisvalid);
}

test('two processes bring a large table up at once, while a third goes on writing, and no row is missed', async (context) => {
  const { store, open, client, schema } = await filled(context);
  let isDone = false;
  let writes = 0;
  const write = async () => {
    // Rows of before and new ones, some of them while columns are filled, some while indexes are made.
    for (let n = 0; !isDone; n++) {
      await store
        .change((tx) => {
          tx.update('parcel', { ...parcel(n % count, `moved ${n % 3}`), columns: [n % count] });
          tx.insert('parcel', { ...parcel(count + n, 'new'), columns: [count + n] });
        })
        .then(
          () => writes++,
          // Tables are others by now: a service would go on with the newer document.
          () => (isDone = true),
        );
    }
  };
  const writing = write();
  const newer = [open(), open()] as const;
  const results = await Promise.all(newer.map((one) => one.prepare([after], columnsOf)));
  isDone = true;
  await writing;
  assert.ok(writes > 3, `${writes} changes were stored meanwhile`);
  const refilled = results.reduce((sum, one) => sum + one.refilled, 0);
  assert.ok(refilled < count, `the transaction filled ${refilled} rows, those that were written meanwhile`);
  for (const one of newer) await assertFound(one, count + writes);
  assert.deepEqual(await indexesOf(client, schema), [true, true]);
});

test('an index whose making was broken off is made anew', async (context) => {
  const { open, client, schema } = await filled(context);
  await open().prepare([after], columnsOf);
  await client.query(
    `UPDATE pg_index SET indisvalid = false FROM pg_class AS c, pg_namespace AS n
      WHERE c.oid = indexrelid AND n.oid = c.relnamespace AND n.nspname = $1 AND c.relname LIKE 'index:%'`,
    [schema],
  );
  const store = open();
  await store.prepare([after], noRows);
  assert.deepEqual(await indexesOf(client, schema), [true, true]);
  await assertFound(store, count);
});

test('whoever only tries a migration changes nothing', async (context) => {
  const { open, client, schema } = await filled(context);
  class Tried extends Error {}
  const settle = () => {
    throw new Tried();
  };
  await assert.rejects(async () => open().prepare([after], columnsOf, { isTrial: true, settle }), Tried);
  const { rows } = await client.query(
    `SELECT 1 FROM information_schema.columns WHERE table_schema = $1 AND column_name LIKE 'town%'`,
    [schema],
  );
  assert.deepEqual([rows.length, await indexesOf(client, schema)], [0, [true]]);
});
