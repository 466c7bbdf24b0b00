import { createHash, randomUUID } from 'node:crypto';
import { laterStore } from '../../src/store/postgres/open.ts';
import type { Store } from '../../src/store/store.ts';
import { openTestPglite } from './pglite.ts';

/** What stands in the place of `src/store/sqlite/sqlite.ts` where tests run on PGlite: each file is a schema of one database in this process. */
export function openSqlite(path: string): Store {
  const schema = path === ':memory:' ? randomUUID() : createHash('sha256').update(path).digest('hex').slice(0, 40);
  return laterStore('PGlite', () => openTestPglite(`t${schema.replaceAll('-', '')}`));
}
