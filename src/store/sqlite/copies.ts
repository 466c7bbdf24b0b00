import { DatabaseSync } from 'node:sqlite';
import { Damaged } from '../failures.ts';
import { putWhole, replaceWhole, sizeOf } from './files.ts';
import { checkStore, takeLock } from './open.ts';
import { CORRUPT, errorNumber, statement } from './statement.ts';

/** Writes what a connection sees as committed into a new file. */
export function copyInto(database: DatabaseSync, path: string): void {
  putWhole(path, (part) => statement(database, 'VACUUM INTO ?').get(part));
}

/** Copies a store that may be in use: what is committed when it begins. @throws {Damaged} */
export function backUp(from: string, to: string): void {
  reading(from, (database) => {
    putWhole(to, (part) => {
      statement(database, 'VACUUM INTO ?').get(part);
      reading(part, (copy) => checkWhole(copy, part));
    });
  });
}

/**
 * Puts a copy in the place of a store, and keeps what was there as `kept`.
 * @throws {Locked} where the store is in use, {Damaged} where the copy is not whole; nothing is changed then.
 */
export function restore(path: string, from: string, kept: string): void {
  const release = takeLock(path, 0);
  try {
    reading(from, (database) => {
      checkWhole(database, from);
      foldLog(path);
      replaceWhole(path, kept, (part) => statement(database, 'VACUUM INTO ?').get(part));
    });
  } finally {
    release();
  }
}

/** What is wrong with the pages of a store that may be in use; nothing where it is whole. It reads all of it. */
export function flawsOf(path: string): string[] {
  return reading(path, integrity);
}

function reading<T>(path: string, work: (database: DatabaseSync) => T): T {
  if (sizeOf(path) === undefined) throw new Error(`${path} is not there`);
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  try {
    checkStore(database, path);
    return work(database);
  } finally {
    database.close();
  }
}

function checkWhole(database: DatabaseSync, path: string): void {
  const flaws = integrity(database);
  if (flaws.length > 0) throw new Damaged(path, flaws.slice(0, 3).join('; '));
}

function integrity(database: DatabaseSync): string[] {
  try {
    const found = statement<[string]>(database, 'PRAGMA integrity_check(20)').all();
    return found.map(([line]) => line).filter((line) => line !== 'ok');
  } catch (error) {
    if ((errorNumber(error) & 0xff) !== CORRUPT || !(error instanceof Error)) throw error;
    return [error.message];
  }
}

/** Moves what is in the log of a file into it, so that no log of the old file is left beside the new one. */
function foldLog(path: string): void {
  if (sizeOf(path) === undefined) return;
  try {
    const database = new DatabaseSync(path);
    try {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE');
    } finally {
      database.close();
    }
  } catch {
    // What is being replaced may be damaged: its log goes aside with it.
  }
}
