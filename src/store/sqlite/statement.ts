import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

/** A prepared statement whose rows are arrays, which are quicker to read than objects. */
export interface Statement<R extends readonly unknown[] = readonly unknown[]> {
  get(...values: SQLInputValue[]): R | undefined;
  all(...values: SQLInputValue[]): R[];
}

/** Prepares SQL whose columns are those of `R`, in that order. */
export function statement<R extends readonly unknown[] = readonly unknown[]>(database: DatabaseSync, sql: string): Statement<R> {
  const prepared = database.prepare(sql);
  prepared.setReturnArrays(true);
  // The driver's types know rows as objects only; after setReturnArrays they are arrays, and R is what the SQL selects.
  return prepared as unknown as Statement<R>;
}

/** SQLite's own number of an error, with its detail; 0 for any other error. */
export function errorNumber(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

/** Whether an error is of the disk, and not of what was asked: it is full, cannot be written to, fails, or is held by a tool. */
export function isOfDisk(error: unknown): boolean {
  return diskErrors.has(errorNumber(error) & 0xff);
}

export const UNIQUE_BROKEN = 2067;
export const BUSY = 5;
export const READ_ONLY = 8;
export const CORRUPT = 11;
export const FULL = 13;
export const CANNOT_OPEN = 14;
export const NOT_A_DATABASE = 26;

/** SQLITE_BUSY (a tool beside holds the file), SQLITE_READONLY, SQLITE_IOERR and SQLITE_FULL (https://sqlite.org/rescode.html). */
const diskErrors: ReadonlySet<number> = new Set([BUSY, READ_ONLY, 10, FULL]);

/**
 * A word as part of an SQLite name. SQLite takes `A` and `a` for the same letter, ends a name at NUL and cannot hold half
 * a surrogate pair, so these are written with `^`; every other character stays readable.
 */
export function encodeName(word: string): string {
  return word.replace(/[A-Z^]|\p{Cc}|\p{Cs}/gu, (character) => {
    if (character === '^') return '^^';
    if (character >= 'A' && character <= 'Z') return `^${character.toLowerCase()}`;
    return `^{${character.charCodeAt(0).toString(16)}}`;
  });
}

/** The SQLite table of a resource's rows; the prefix keeps it clear of SQLite's and the engine's own tables. */
export function rowsTable(resource: string): string {
  return `rows:${encodeName(resource)}`;
}

/** The SQLite column of a stated one. Its type is part of the name: another type is another column, and the old one stays. */
export function rowsColumn(name: string, type: string): string {
  return `${encodeName(name)}:${type}`;
}

/** An identifier as it stands in SQL. */
export function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
