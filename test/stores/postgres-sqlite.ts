import { createHash, randomUUID } from 'node:crypto';
import { openPostgres } from '../../src/store/postgres/open.ts';
import type { Store } from '../../src/store/store.ts';

/** What stands in the place of `src/store/sqlite/sqlite.ts` where tests run on PostgreSQL: each file is a schema of the run's database. */
export function openSqlite(path: string): Store {
  const database = process.env.NINEFOLD_TEST_DATABASE;
  if (database === undefined) throw new Error('tests on PostgreSQL are run by test/run.ts, which makes a database for them');
  const address = new URL(database);
  const schema = path === ':memory:' ? randomUUID() : createHash('sha256').update(path).digest('hex').slice(0, 40);
  address.searchParams.set('schema', `t${schema.replaceAll('-', '')}`);
  return openPostgres(address.href);
}
