import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { openPostgres } from '../src/store/postgres/open.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { noRows, row, table } from './store-engines.ts';
import { makeDatabase } from './stores/database.ts';

test('texts are in the order of SQLite also in a database that has the order of a language', async (context) => {
  const server = await makeDatabase();
  const admin = new Client({ connectionString: server.address });
  await admin.connect();
  const name = `${new URL(server.address).pathname.slice(1)}_en`;
  await admin.query(`CREATE DATABASE ${name} LOCALE_PROVIDER icu ICU_LOCALE 'en' TEMPLATE template0`);
  const address = new URL(server.address);
  address.pathname = `/${name}`;
  const stores = [openPostgres(address.href), openSqlite(':memory:')];
  context.after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
    await server.drop();
  });
  const slugs = ['b', 'B', 'a', 'A', 'é', 'z', '-a', 'a b', 'ab', '_', 'aB'];
  const told = await Promise.all(stores.map((store) => orders(store, slugs)));
  assert.deepEqual(told[0], told[1]);
  const own = new Client({ connectionString: address.href });
  await own.connect();
  const { rows } = await own.query('SELECT t FROM unnest($1::text[]) AS t ORDER BY t', [slugs]);
  await own.end();
  assert.notDeepEqual(
    rows.map(({ t }) => t),
    told[1]?.slice(0, slugs.length),
    'the database itself orders them otherwise',
  );
});

/** The texts in order, then those of rows whose text is more than one, and their identifiers in order. */
async function orders(store: Store, slugs: readonly string[]): Promise<readonly unknown[]> {
  await store.prepare([table('parcel', ['slug:text'], { unique: ['slug'], indexes: [['slug']] })], noRows);
  await store.change((tx) => {
    for (const slug of slugs) tx.insert('parcel', row(`id ${slug}`, slug));
  });
  const slugOf = ({ keys }: { readonly keys?: readonly unknown[] | undefined }) => keys?.[0];
  const by = (column: string) => ({ table: 'parcel', order: [{ column }], keys: true });
  const above = { ...by('slug'), where: { op: '>', left: { column: 'slug' }, right: { param: 0 } } } as const;
  return store.read((rows) => [
    ...rows.all(by('slug'), []).map(slugOf),
    ...rows.all(above, ['a']).map(slugOf),
    ...rows.all(by('id'), []).map(slugOf),
  ]);
}
