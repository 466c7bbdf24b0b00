import type { DatabaseSync } from 'node:sqlite';
import { CommitFailed, type Migration, type Reader, type Store, type TableSpec, type Timer, type Transaction } from '../store.ts';
import { CredentialTable } from './credentials.ts';
import { compactDatabase, eraseFrom } from './erasing.ts';
import { type ColumnsOf, migrateTable } from './migration.ts';
import { openDatabase, type SqliteOptions } from './open.ts';
import { OutboxReads } from './outbox.ts';
import { CounterTable, Records, Revisions, TimerRecords } from './records.ts';
import { isOfDisk, quote, rowsTable, statement } from './statement.ts';
import { Tables } from './tables.ts';
import { type Contents, Savepoints, SqliteReader, SqliteTransaction } from './transaction.ts';

export type { SqliteOptions } from './open.ts';

/**
 * Opens a store in an SQLite file, or in memory under the name `:memory:`. One process has it at a time.
 * @throws {Locked} when another process has the file.
 */
export function openSqlite(path: string, options: SqliteOptions = {}): Store {
  return new SqliteStore(path, openDatabase(path, options));
}

type Body = (transaction: Transaction) => unknown;

class SqliteStore implements Store {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #contents: Contents;
  readonly #reader: SqliteReader;
  readonly #savepoints: Savepoints;
  readonly #changes: Changes<Body>;
  #closed: Promise<void> | undefined;

  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
    this.#savepoints = new Savepoints(database);
    this.#contents = {
      tables: new Tables(database, []),
      revisions: new Revisions(database),
      records: new Records(database),
      timers: new TimerRecords(database),
      counters: new CounterTable(database),
      credentials: new CredentialTable(database),
      outbox: new OutboxReads(database),
      erase: (erasure) => eraseFrom(database, erasure),
      sequence: statement(
        database,
        'INSERT INTO ninefold_sequences (name, last) VALUES (?, 1) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last',
      ),
      clear: () => clearTables(database),
    };
    this.#reader = new SqliteReader(this.#contents);
    this.#changes = new Changes({
      run: (body) => this.#run(body),
      commit: () => this.#commit(),
      abandon: (cause) => this.#abandon(cause),
    });
  }

  prepare(tables: readonly TableSpec[], columnsOf: ColumnsOf): Migration {
    this.#checkFree();
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const done = tables.map((table) => migrateTable(this.#database, table, columnsOf));
      this.#database.exec('COMMIT');
      this.#contents.tables = new Tables(this.#database, tables);
      return { added: done.flatMap(({ added }) => added), refilled: done.reduce((sum, { refilled }) => sum + refilled, 0) };
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  read<T>(body: (reader: Reader) => T): T {
    this.#checkFree();
    return checkSettled(body(this.#reader));
  }

  change<T>(body: (transaction: Transaction) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new Error(`${this.#path} is closed`));
    // The queue holds bodies of all types; each one's promise settles with what that body returned.
    return this.#changes.add(body) as Promise<T>;
  }

  due(nowMs: number, most: number): Timer[] {
    this.#checkFree();
    return this.#contents.timers.due(nowMs, most);
  }

  nextDue(): number | undefined {
    this.#checkFree();
    return this.#contents.timers.next();
  }

  setting(name: string, make: () => string): string {
    this.#checkFree();
    const found = statement<[string]>(this.#database, 'SELECT value FROM ninefold_settings WHERE name = ?').get(name);
    if (found) return found[0];
    const made = make();
    statement(this.#database, 'INSERT INTO ninefold_settings (name, value) VALUES (?, ?)').get(name, made);
    return made;
  }

  async compact(): Promise<void> {
    await this.#changes.drain();
    this.#checkFree();
    compactDatabase(this.#database);
  }

  close(): Promise<void> {
    this.#closed ??= this.#changes.drain().then(() => this.#database.close());
    return this.#closed;
  }

  #run(body: Body): BatchOutcome {
    const transaction = new SqliteTransaction(this.#contents, this.#savepoints);
    try {
      const value = checkSettled(body(transaction));
      this.#savepoints.keep();
      return { value };
    } catch (error) {
      this.#savepoints.undo(error);
      return { error: isOfDisk(error) ? new CommitFailed(this.#path, error) : error };
    } finally {
      transaction.end();
    }
  }

  #commit(): void {
    if (!this.#savepoints.begun) return;
    const { records, counters, revisions } = this.#contents;
    records.purge();
    counters.purge();
    const mark = revisions.reserve();
    this.#savepoints.commit();
    revisions.committed(mark);
  }

  #abandon(cause: unknown): Error {
    this.#savepoints.rollBack();
    return new CommitFailed(this.#path, cause);
  }

  /** One connection reads and writes: between the first write of a batch and its commit, only its bodies may look. */
  #checkFree(): void {
    if (this.#changes.running) throw new Error('inside a change, use the transaction that it was given');
    if (this.#closed) throw new Error(`${this.#path} is closed`);
  }
}

/** Empties what clients made, also the rows of resources that the document no longer has. */
function clearTables(database: DatabaseSync): void {
  const rows = statement<[name: string]>(database, 'SELECT name FROM ninefold_tables').all();
  for (const [name] of rows) statement(database, `DELETE FROM ${quote(rowsTable(name))}`).get();
  for (const name of ['records', 'counters', 'sequences', 'timers', 'attempts', 'deliveries', 'events', 'subscribers'])
    statement(database, `DELETE FROM ninefold_${name}`).get();
}

function checkSettled<T>(value: T): T {
  if (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function') {
    // Nobody will wait for it any more, so a failure of its own must not go unhandled.
    value.then(undefined, () => {});
    throw new TypeError('the body returned a promise; do what waits before it, and return a value');
  }
  return value;
}

/** What a batch of changes needs of the database. */
interface BatchWork<B> {
  /** Runs one body; a body that fails leaves nothing. @throws when the whole batch is lost. */
  readonly run: (body: B) => BatchOutcome;
  /** Brings what the batch wrote to disk. */
  readonly commit: () => void;
  /** Undoes the whole batch, and says what its changes reject with. */
  readonly abandon: (cause: unknown) => Error;
}

type BatchOutcome = { readonly value: unknown } | { readonly error: unknown };

interface Waiting<B> {
  readonly body: B;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_BODIES = 512;
const MOST_MS = 5;
const MOST_TURNS = 2;

/**
 * Changes that came in one turn of the event loop, or in turns that followed closely, brought to disk together. Nothing of the caller's runs between the
 * first and the commit but the bodies themselves; promises settle after it.
 */
class Changes<B> {
  readonly #work: BatchWork<B>;
  #waiting: Waiting<B>[] = [];
  #scheduled = false;
  #running = false;
  #drained: (() => void)[] = [];

  constructor(work: BatchWork<B>) {
    this.#work = work;
  }

  /** Whether a body runs at this moment. */
  get running(): boolean {
    return this.#running;
  }

  add(body: B): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves once nothing waits any more. */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#scheduled) this.#drained.push(resolve);
      else resolve();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#gather, 0, 0);
  }

  /** A sync to disk costs as much as many turns of the event loop: while each turn brings more changes, wait for the next. */
  readonly #gather = (turns: number, had: number): void => {
    const has = this.#waiting.length;
    if (has > had && has < MOST_BODIES && turns < MOST_TURNS) setImmediate(this.#gather, turns + 1, has);
    else this.#flush();
  };

  #flush(): void {
    const outcomes: BatchOutcome[] = [];
    const batch = this.#waiting;
    this.#waiting = [];
    let taken = 0;
    let lost: Error | undefined;
    const until = performance.now() + MOST_MS;
    this.#running = true;
    try {
      while (taken < batch.length && taken < MOST_BODIES && (taken === 0 || performance.now() < until)) {
        outcomes.push(this.#work.run(batch[taken++]!.body));
      }
      this.#work.commit();
    } catch (error) {
      lost = this.#work.abandon(error);
    } finally {
      this.#running = false;
    }
    this.#scheduled = false;
    this.#waiting = batch.slice(taken).concat(this.#waiting);
    if (this.#waiting.length > 0) this.#schedule();
    for (let index = 0; index < taken; index++) settle(batch[index]!, lost ? { error: lost } : outcomes[index]!);
    if (this.#scheduled) return;
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}

function settle<B>({ resolve, reject }: Waiting<B>, outcome: BatchOutcome): void {
  if ('error' in outcome) reject(outcome.error);
  else resolve(outcome.value);
}
