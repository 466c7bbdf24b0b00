/** Stores by their address: how one is opened, and copied into another. */

import { nearest } from '../../document/nearest.ts';
import { type Copied, type CopySide, copyStore } from '../../store/copying.ts';
import { Locked, StoreUnavailable } from '../../store/failures.ts';
import { ownParameters, shownAddress } from '../../store/postgres/connection.ts';
import { openPostgres } from '../../store/postgres/open.ts';
import { openSqlite } from '../../store/sqlite/sqlite.ts';
import type { Store } from '../../store/store.ts';

/** Opens a SQLite file, `:memory:`, or a database by its address, `postgres://…`. @throws {Locked} where another process holds a file. */
export function openStore(path: string, options: { readonly lockMs?: number } = {}): Store {
  demandStore(path);
  return isDatabase(path) ? openPostgres(path) : openSqlite(path, options);
}

/** @throws for an address of a kind that holds no data here, which would be taken for the name of a file, and for a misspelt parameter. */
function demandStore(path: string): void {
  const [, scheme] = /^([a-z][a-z\d+.-]*):\/\//i.exec(path) ?? [];
  if (scheme === undefined) return;
  if (isDatabase(path)) {
    for (const name of URL.parse(path)?.searchParams.keys() ?? []) {
      const own = ownParameters.includes(name) ? undefined : nearest(name, ownParameters);
      if (own !== undefined) throw new Error(`${shownAddress(path)}: there is no parameter ${name}; did you mean ${own}?`);
    }
    return;
  }
  const meant = nearest(scheme, ['postgres', 'postgresql']);
  throw new Error(
    `${shownAddress(path)}: no data is kept at ${scheme}://; ${meant === undefined ? 'write postgres://USER@HOST:PORT/DATABASE or the path of a file' : `did you mean ${meant}://?`}`,
  );
}

/** Whether data is in a database that several processes can have at a time, and in no file. */
export function isDatabase(path: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(path);
}

/** Where data is, as it may be shown: without a password. */
export function shownStore(path: string): string {
  return isDatabase(path) ? shownAddress(path) : path;
}

/** A name beside a file that no other moment gives. */
export function namedBeside(path: string, nowMs: number): string {
  return `${path}.before-${new Date(nowMs).toISOString().replace(/[-:.]/g, '')}`;
}

/** Copies a file before its rows become others; the name of the copy. What is in a database is for the database's own tools to keep. */
export async function copyBefore(store: Store, path: string, nowMs: number): Promise<string | undefined> {
  if (isDatabase(path) || path === inMemory) return undefined;
  const copy = namedBeside(path, nowMs);
  await store.copyTo(copy);
  return copy;
}

/** The path of a store that is in no file. */
export const inMemory = ':memory:';

/** Waits until a store answers. @throws where it cannot be reached. */
export async function reached(store: Store): Promise<Store> {
  try {
    await store.nextDue();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Whether a store did not do what it was asked for reasons of the machine. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailable;
}

/** Whether a store could not be opened because another process holds it. */
export function isLocked(error: unknown): boolean {
  return error instanceof Locked;
}

/** Copies all that one store holds into another, empty one, between files and databases. @throws {CannotCopy} */
export async function copyBetween(from: string, to: string, progress: (table: string, done: number) => void): Promise<Copied> {
  const source = await sideOf(from);
  try {
    const target = await sideOf(to);
    try {
      return await copyStore(source, target, progress);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function sideOf(path: string): Promise<CopySide> {
  demandStore(path);
  if (isDatabase(path)) return (await import('../../store/postgres/copy-side.ts')).postgresSide(path);
  return (await import('../../store/sqlite/copy-side.ts')).sqliteSide(path);
}
