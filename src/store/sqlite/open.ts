import { DatabaseSync } from 'node:sqlite';
import { Damaged, Locked } from '../failures.ts';
import { headOf, makePrivate, removeFile, type Sync, sizeOf } from './files.ts';
import { OUTBOX_TABLES } from './outbox.ts';
import { CREDENTIAL_TABLES } from './records.ts';
import { BUSY, CANNOT_OPEN, CORRUPT, errorNumber, NOT_A_DATABASE, quote, READ_ONLY, statement } from './statement.ts';
import type { LongReadOptions } from './walk.ts';

/** What can be chosen when a store is opened. */
export interface SqliteOptions {
  /** How long to wait for another process to let go of the file. */
  readonly lockMs?: number;
  /** How much of what was read or written is kept in memory. */
  readonly cacheMiB?: number;
  /** How much of the file is read through the system's own cache, without copying; 0 for none. */
  readonly mapMiB?: number;
  /** How many pages of 4 KiB are written to the log before they are moved to the file. */
  readonly checkpointPages?: number;
  readonly longReads?: LongReadOptions;
  /** How the log is brought to disk; by the system's own call, unless this says otherwise. */
  readonly sync?: Sync;
}

const APPLICATION = 0x4e39464c;
const FORMAT = 1;

/** A database that this process has, and what lets go of it once it is closed. */
export interface OpenDatabase {
  readonly database: DatabaseSync;
  readonly release: () => void;
}

/**
 * Opens the file as the one process that writes to it, with every commit on disk before it returns. Others may read it meanwhile, by
 * SQLite's own tools too.
 * @throws {Locked} when another process has it open, {Damaged} when what it holds is broken.
 */
export function openDatabase(path: string, options: SqliteOptions): OpenDatabase {
  const isNew = sizeOf(`${path}-lock`) === undefined;
  const release = takeLock(path, options.lockMs ?? 1000);
  let database: DatabaseSync | undefined;
  try {
    refuseForeign(path);
    if (path !== ':memory:') makePrivate(path);
    database = new DatabaseSync(path, { timeout: options.lockMs ?? 1000, enableForeignKeyConstraints: false });
    // The log is never truncated: overwriting its blocks is far cheaper to sync than growing a file.
    database.exec(`PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${options.checkpointPages ?? 2000};
      PRAGMA cache_size = -${(options.cacheMiB ?? 32) * 1024};
      PRAGMA mmap_size = ${(options.mapMiB ?? 1024) * 2 ** 20};
      PRAGMA temp_store = MEMORY;
      PRAGMA secure_delete = ON;`);
    if (path !== ':memory:') checkPages(database, path);
    database.exec('BEGIN IMMEDIATE');
    bringUp(database);
    database.exec(CREDENTIAL_TABLES);
    database.exec(OUTBOX_TABLES);
    addTraces(database);
    database.exec('COMMIT');
    return { database, release };
  } catch (error) {
    database?.close();
    release();
    if (isNew && error instanceof Foreign) removeFile(`${path}-lock`);
    throw openingError(path, error);
  }
}

/**
 * Takes the lock of a store, which the system lets go of when its process ends, however it ends. It lies in a file of its own beside the store:
 * a lock on the store itself would keep out those who only read.
 * @throws {Locked}
 */
export function takeLock(path: string, lockMs: number): () => void {
  if (path === ':memory:') return () => {};
  let lock: DatabaseSync | undefined;
  try {
    makePrivate(`${path}-lock`);
    lock = new DatabaseSync(`${path}-lock`, { timeout: lockMs });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    throw openingError(path, error);
  }
  const held = lock;
  return () => held.close();
}

/** What stands in the way of opening a store, in words that say what to do. */
function openingError(path: string, error: unknown): Error {
  if (error instanceof Damaged || error instanceof Foreign) return error;
  const number = errorNumber(error);
  const code = number & 0xff;
  if (code === BUSY) return new Locked(path, { cause: error });
  if (number === NOT_A_DATABASE) return new Error(`${path} is not a store of Ninefold`, { cause: error });
  if (code === CORRUPT) return new Damaged(path, messageOf(error), { cause: error });
  if (code === READ_ONLY)
    return new Error(`${path} cannot be written to; give this user the right to write it and its folder`, { cause: error });
  if (code === CANNOT_OPEN)
    return new Error(`${path} cannot be opened; its folder has to be there, and this user has to be able to write to it`, {
      cause: error,
    });
  return new Error(`${path} cannot be opened as a store: ${messageOf(error)}`, { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A file of so many bytes is looked through whole when it is opened: that takes some milliseconds. */
const wholeBytesMost = 4 * 2 ** 20;

/** A file that is something else: nothing of it is touched. */
class Foreign extends Error {}

/** What every database of SQLite begins with, and where the number of the application stands behind it (SQLite's file format, section 1.3). */
const magic = 'SQLite format 3\0';
const applicationAt = 68;

/** Looks at what a file begins with before SQLite does, which would change its log, and before its rights are changed. @throws {Foreign} */
function refuseForeign(path: string): void {
  const size = path === ':memory:' ? 0 : (sizeOf(path) ?? 0);
  // What is still in the log is not in the file: a new store that was killed has no number yet.
  if (size === 0 || sizeOf(`${path}-wal`)) return;
  const head = headOf(path, 100);
  if (head === undefined) return;
  if (head.toString('latin1', 0, magic.length) !== magic) throw new Foreign(`${path} is not a store of Ninefold`);
  const stated = head.readUInt16BE(16);
  // A database of one page has no tables.
  if (size > (stated === 1 ? 2 ** 16 : stated) && head.readUInt32BE(applicationAt) !== APPLICATION)
    throw new Foreign(`${path} cannot be opened as a store: it is a database, but not one of Ninefold`);
}

/** Looks at the pages of a store: all of a small one, of a large one its first and last of each table. @throws {Damaged} */
function checkPages(database: DatabaseSync, path: string): void {
  if ((sizeOf(path) ?? 0) <= wholeBytesMost) {
    const [found] = statement<[string]>(database, 'PRAGMA quick_check(1)').get() ?? ['ok'];
    if (found !== 'ok') throw new Damaged(path, found);
    return;
  }
  const tables = statement<[string]>(
    database,
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%seq INTEGER%'`,
  );
  for (const [table] of tables.all()) {
    const name = quote(table);
    for (const way of ['ASC', 'DESC']) statement(database, `SELECT * FROM ${name} ORDER BY seq ${way} LIMIT 1`).get();
  }
}

/** @throws where a file is no store of Ninefold. */
export function checkStore(database: DatabaseSync, path: string): void {
  try {
    const application = Number(database.prepare('PRAGMA application_id').get()?.application_id);
    if (application !== APPLICATION) throw new Error(`${path} is not a store of Ninefold`);
  } catch (error) {
    throw errorNumber(error) === 0 ? error : openingError(path, error);
  }
}

function bringUp(database: DatabaseSync): void {
  const application = Number(database.prepare('PRAGMA application_id').get()?.application_id);
  const format = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  const tables = Number(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n);
  if (application !== APPLICATION && tables > 0) throw new Error('it is a database, but not one of Ninefold');
  if (format > FORMAT) throw new Error('it was written by a newer Ninefold; use that one, or another file');
  if (application !== APPLICATION) createTables(database);
  // Came later: a file from before gets it, and an older Ninefold passes it over.
  database.exec(`CREATE TABLE IF NOT EXISTS ninefold_counters
      (name TEXT PRIMARY KEY, count REAL NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS ninefold_counters_expires ON ninefold_counters (expires);`);
}

/** Came later: a file from before gets it, and an older Ninefold passes it over. */
function addTraces(database: DatabaseSync): void {
  const [there] = statement<[number]>(
    database,
    `SELECT count(*) FROM pragma_table_info('ninefold_events') WHERE name = 'trace'`,
  ).get() ?? [1];
  if (there === 0) database.exec('ALTER TABLE ninefold_events ADD COLUMN trace TEXT');
}

function createTables(database: DatabaseSync): void {
  database.exec(`PRAGMA application_id = ${APPLICATION};
    PRAGMA user_version = ${FORMAT};
    CREATE TABLE ninefold_tables (name TEXT PRIMARY KEY, columns TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE ninefold_revision (reserved INTEGER NOT NULL);
    INSERT INTO ninefold_revision VALUES (0);
    CREATE TABLE ninefold_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE ninefold_sequences (name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE ninefold_records (key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, body TEXT NOT NULL, expires INTEGER NOT NULL);
    CREATE INDEX ninefold_records_expires ON ninefold_records (expires);
    CREATE TABLE ninefold_timers (
      resource TEXT, id TEXT, name TEXT, due INTEGER, token TEXT, fired TEXT,
      PRIMARY KEY (resource, id, name)
    ) WITHOUT ROWID;
    CREATE INDEX ninefold_timers_due ON ninefold_timers (due) WHERE due IS NOT NULL;`);
}
