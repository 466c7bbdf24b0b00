import { after } from 'node:test';
import { openPostgres } from '../../src/store/postgres/open.ts';
import type { Store } from '../../src/store/store.ts';
import { makeDatabase } from './database.ts';

/** The database of a run, which whoever began it has made; a test file that is run alone makes its own. */
const given = 'NINEFOLD_TEST_DATABASE';

let own: ReturnType<typeof makeDatabase> | undefined;
after(async () => (await own)?.drop());

/** The address of a database for this run. */
export function testDatabase(): Promise<string> {
  const database = process.env[given];
  if (database !== undefined) return Promise.resolve(database);
  own ??= makeDatabase();
  return own.then(({ address }) => address);
}

/** Opens a store in a schema of its own. */
export async function openTestSchema(schema: string): Promise<Store> {
  const address = new URL(await testDatabase());
  address.searchParams.set('schema', schema);
  return openPostgres(address.href);
}
