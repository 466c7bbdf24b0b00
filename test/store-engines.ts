import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { NewRow, Scalar, Store, TableSpec } from '../src/store/store.ts';
import { reluctant } from './stores/reluctant.ts';

/** A way to keep a store that every test of the contract runs on. */
export interface Engine {
  readonly name: string;
  /** Whether a body is run once, as it comes, so that what it does besides can be looked at. */
  readonly runsOnce: boolean;
  /** Opens an empty store that is closed and gone after the test; `again` closes it and opens what it holds. */
  open(test: TestContext): Promise<{ store: Store; again: () => Promise<Store> }>;
}

/** No time for anything at once, and few rows at a time. */
export const slices = { attemptMs: 0, everyRows: 1, sliceMs: 0, sliceRows: [1, 2] } as const;

/** The stores that `NINEFOLD_TEST_STORE` names; SQLite, at once and later, where it names none. */
export const engines: readonly Engine[] = await enginesFor(process.env.NINEFOLD_TEST_STORE);

async function enginesFor(store: string | undefined): Promise<Engine[]> {
  if (store === 'postgres') {
    const { openTestSchema } = await import('./stores/postgres.ts');
    return [{ name: 'PostgreSQL', runsOnce: false, open: inSchema(openTestSchema) }];
  }
  if (store === 'pglite') {
    const { openTestPglite } = await import('./stores/pglite.ts');
    return [{ name: 'PGlite', runsOnce: false, open: inSchema(openTestPglite) }];
  }
  return [
    { name: 'SQLite', runsOnce: true, open: inFile(openSqlite) },
    // Each question that may be long is answered in slices of a row or two, on a connection of its own or, in memory, on the one there is.
    { name: 'SQLite in slices', runsOnce: false, open: inFile((file) => openSqlite(file, { longReads: slices })) },
    { name: 'reluctant SQLite', runsOnce: false, open: inFile((file) => reluctant(openSqlite(file))) },
  ];
}

function inSchema(openStore: (schema: string) => Promise<Store>): Engine['open'] {
  return async (test) => {
    const schema = `t${randomUUID().replaceAll('-', '')}`;
    let store = await openStore(schema);
    test.after(() => store.close());
    return {
      store,
      again: async () => {
        await store.close();
        store = await openStore(schema);
        return store;
      },
    };
  };
}

function inFile(openStore: (file: string) => Store): Engine['open'] {
  return async (test) => {
    const file = join(folder(test), 'store.sqlite');
    let store = openStore(file);
    test.after(() => store.close());
    return {
      store,
      again: async () => {
        await store.close();
        store = openStore(file);
        return store;
      },
    };
  };
}

/** A folder that goes with the test. */
export function folder(test: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'ninefold-store-'));
  test.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A table with columns written as `name:type`, and what else its spec says. */
export function table(name: string, columns: readonly string[], more: Partial<TableSpec> = {}): TableSpec {
  return {
    name,
    columns: columns.map((column) => {
      const [word, type] = column.split(':');
      return { name: word!, type: type as 'integer' | 'real' | 'text' };
    }),
    unique: [],
    indexes: [],
    ...more,
  };
}

export function row(id: string, ...columns: Scalar[]): NewRow {
  return { id, entered: 0, doc: JSON.stringify({ id }), columns };
}

export const noRows = (): never => {
  throw new Error('no row was expected');
};
