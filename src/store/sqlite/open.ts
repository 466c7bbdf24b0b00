import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Locked } from '../store.ts';
import { CREDENTIAL_TABLES } from './credentials.ts';
import { OUTBOX_TABLES } from './outbox.ts';
import { BUSY, errorNumber, NOT_A_DATABASE } from './statement.ts';

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
}

const APPLICATION = 0x4e39464c;
const FORMAT = 1;

/**
 * Opens the file for this process alone, with every commit on disk before it returns.
 * @throws {Locked} when another process has it open.
 */
export function openDatabase(path: string, options: SqliteOptions): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    if (path !== ':memory:') makePrivate(path);
    database = new DatabaseSync(path, { timeout: options.lockMs ?? 1000, enableForeignKeyConstraints: false });
    // Exclusive from the first read on: a second process gets an error, and reads need no system call for locking. The
    // log is never truncated: overwriting its blocks is far cheaper to sync than growing a file.
    database.exec(`PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${options.checkpointPages ?? 2000};
      PRAGMA cache_size = -${(options.cacheMiB ?? 32) * 1024};
      PRAGMA mmap_size = ${(options.mapMiB ?? 1024) * 2 ** 20};
      PRAGMA temp_store = MEMORY;
      PRAGMA secure_delete = ON;`);
    database.exec('BEGIN IMMEDIATE');
    bringUp(database);
    database.exec(CREDENTIAL_TABLES);
    database.exec(OUTBOX_TABLES);
    database.exec('COMMIT');
    return database;
  } catch (error) {
    database?.close();
    if ((errorNumber(error) & 0xff) === BUSY) throw new Locked(path, { cause: error });
    if (errorNumber(error) === NOT_A_DATABASE) throw new Error(`${path} is not a store of Ninefold`, { cause: error });
    throw new Error(`${path} cannot be opened as a store: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/**
 * A new file is for its owner alone, and so are those that SQLite lays beside it, which have its mode. One that is there is not touched:
 * whoever closes a file gives up all locks that its process has on it.
 */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there, or cannot be made: SQLite says what is wrong then.
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
