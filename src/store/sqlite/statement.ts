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

export const UNIQUE_BROKEN = 2067;
export const BUSY = 5;
export const NOT_A_DATABASE = 26;
