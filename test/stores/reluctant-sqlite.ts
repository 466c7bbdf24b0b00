import { openSqlite as openAtOnce, type SqliteOptions } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { reluctant } from './reluctant.ts';

/** What stands in the place of `src/store/sqlite/sqlite.ts` where tests run on the reluctant store. */
export function openSqlite(path: string, options: SqliteOptions = {}): Store {
  return reluctant(openAtOnce(path, options), Number(process.env.NINEFOLD_TEST_SEED ?? 1));
}
