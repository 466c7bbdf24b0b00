import type { DatabaseSync } from 'node:sqlite';
import { CommitFailed, CommitUnknown, Damaged, ReadFailed } from '../failures.ts';
import type { Migration, StoredTable } from '../maintenance.ts';
import type { Reader, Renewal, Store, TableSpec, Timer, TimerSearch, Transaction } from '../store.ts';
import { type BatchOutcome, Changes, type LostBatch } from './changes.ts';
import { copyInto } from './copies.ts';
import { compactDatabase, eraseFrom } from './erasing.ts';
import { LogFlush } from './files.ts';
import { LongReads } from './long-reads.ts';
import { type ColumnsOf, dropTable, migrateTable, renameTable, storedTables } from './migration.ts';
import { type OpenDatabase, openDatabase, type SqliteOptions } from './open.ts';
import { OutboxReads } from './outbox.ts';
import { Asks, type Contents, runAsking, SqliteReader } from './reader.ts';
import { CounterTable, CredentialTable, Records, Revisions, TimerRecords } from './records.ts';
import { Delayed, Savepoints, Snapshot } from './savepoints.ts';
import { CORRUPT, errorNumber, isOfDisk, quote, rowsTable, statement } from './statement.ts';
import { Tables } from './tables.ts';
import { carryOutDelayed, SqliteTransaction } from './transaction.ts';
import { TurnBudget, TurnTime } from './walk.ts';

export type { SqliteOptions } from './open.ts';

/**
 * Opens a store in an SQLite file, or in memory under the name `:memory:`. One process has it at a time.
 * @throws {Locked} when another process has the file.
 */
export function openSqlite(path: string, options: SqliteOptions = {}): Store {
  return new SqliteStore(path, openDatabase(path, options), options);
}

type Body = (transaction: Transaction) => unknown;

class SqliteStore implements Store {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #release: () => void;
  readonly #flush: LogFlush | undefined;
  readonly #contents: Contents;
  readonly #reader: SqliteReader;
  readonly #snapshot: Snapshot;
  readonly #savepoints: Savepoints;
  readonly #delayed = new Delayed();
  readonly #changes: Changes<Body>;
  readonly #asks: Asks;
  readonly #longReads: LongReads;
  #specs: readonly TableSpec[] = [];
  #closed: Promise<void> | undefined;

  constructor(path: string, { database, release }: OpenDatabase, options: SqliteOptions) {
    this.#path = path;
    this.#database = database;
    this.#release = release;
    this.#flush = LogFlush.of(database, path, options.sync);
    this.#snapshot = new Snapshot(database);
    this.#savepoints = new Savepoints(database, this.#snapshot);
    this.#contents = {
      tables: new Tables(database, []),
      revisions: new Revisions(database),
      records: new Records(database),
      timers: new TimerRecords(database),
      counters: new CounterTable(database),
      credentials: new CredentialTable(database),
      outbox: new OutboxReads(database),
      erase: (erasure) => {
        this.#contents.records.forget();
        return eraseFrom(database, erasure);
      },
      sequence: statement(
        database,
        'INSERT INTO ninefold_sequences (name, last) VALUES (?, 1) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last',
      ),
      clear: () => {
        this.#contents.records.forget();
        clearTables(database);
      },
    };
    const time = new TurnTime();
    const { longReads = {} } = options;
    const budget = new TurnBudget(database, time, longReads);
    this.#asks = new Asks(budget, () => this.#contents.tables, longReads);
    this.#reader = new SqliteReader(this.#contents, this.#asks);
    this.#longReads = new LongReads({ path, database, budget, time, tables: () => this.#specs, options: longReads });
    this.#changes = new Changes({
      run: (body, isCareful) => this.#run(body, isCareful),
      commit: () => this.#commit(),
      flushed: () => this.#flush?.running,
      durable: () => this.#flush?.durable?.catch((cause) => Promise.reject(new CommitUnknown(path, cause))),
      abandon: (cause) => this.#abandon(cause),
    });
  }

  prepare(tables: readonly TableSpec[], columnsOf: ColumnsOf, renewal: Renewal = {}): Migration {
    this.#checkFree();
    this.#snapshot.end();
    const { revisions, records } = this.#contents;
    const database = this.#database;
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const { from, to } of renewal.renamed ?? []) renameTable(database, from, to);
      for (const name of renewal.dropped ?? []) dropTable(database, name);
      const means = { database, columnsOf, renewal, nextRevision: () => revisions.next() };
      const done = tables.map((table) => migrateTable(means, table));
      const renewed = new SqliteReader({ ...this.#contents, tables: new Tables(database, tables) });
      for (const [key, record] of renewal.settle?.(renewed) ?? []) records.keep(key, record);
      const mark = revisions.reserve();
      database.exec('COMMIT');
      this.#flush?.now();
      revisions.committed(mark);
      this.#contents.tables = new Tables(database, tables);
      this.#specs = tables;
      return {
        added: done.flatMap(({ added }) => added),
        refilled: done.reduce((sum, { refilled }) => sum + refilled, 0),
        renewed: done.reduce((sum, { renewed }) => sum + renewed, 0),
      };
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw this.#told(error);
    } finally {
      records.forget();
    }
  }

  tablesBeside(known: readonly string[]): readonly StoredTable[] {
    this.#checkFree();
    return storedTables(this.#database, known);
  }

  copyTo(path: string): void {
    this.#checkFree();
    this.#snapshot.end();
    copyInto(this.#database, path);
  }

  read<T>(body: (reader: Reader) => T, goesOn = () => {}): T | Promise<T> {
    const outcome = this.#look(() => {
      this.#snapshot.begin();
      return runAsking(this.#asks, () => checkSettled(body(this.#reader)));
    });
    if ('value' in outcome) return this.#onceDurable(outcome.value);
    return this.#longReads
      .read((rows) => checkSettled(body(rows)), goesOn)
      .then(
        (value) => this.#onceDurable(value),
        (error) => Promise.reject(this.#told(error)),
      );
  }

  /** What was read is told once all that it may have shown is on disk. */
  #onceDurable<T>(value: T): T | Promise<T> {
    const durable = this.#flush?.durable;
    if (!durable) return value;
    return durable.then(
      () => value,
      (cause) => Promise.reject(new ReadFailed(this.#path, cause)),
    );
  }

  change<T>(body: (transaction: Transaction) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new Error(`${this.#path} is closed`));
    if (this.#flush?.hasFailed) return Promise.reject(new CommitFailed(this.#path, notFlushed()));
    // The queue holds bodies of all types; each one's promise settles with what that body returned.
    return this.#changes.add(body) as Promise<T>;
  }

  due(nowMs: number, most: number): Timer[] {
    return this.#look(() => this.#contents.timers.due(nowMs, most));
  }

  timers(most: number, search: TimerSearch): Timer[] {
    return this.#look(() => this.#contents.timers.list(most, search));
  }

  nextDue(): number | undefined {
    return this.#look(() => this.#contents.timers.next());
  }

  setting(name: string, make: () => string): string {
    return this.#look(() => {
      this.#snapshot.end();
      const found = statement<[string]>(this.#database, 'SELECT value FROM ninefold_settings WHERE name = ?').get(name);
      if (found) return found[0];
      const made = make();
      statement(this.#database, 'INSERT INTO ninefold_settings (name, value) VALUES (?, ?)').get(name, made);
      this.#flush?.now();
      return made;
    });
  }

  async compact(): Promise<void> {
    await this.#changes.drain();
    await this.#longReads.alone(() => {
      this.#checkFree();
      this.#snapshot.end();
      compactDatabase(this.#database);
    });
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all([this.#changes.drain(), this.#longReads.close()]).then(() => {
      this.#database.close();
      this.#flush?.close();
      this.#release();
    });
    return this.#closed;
  }

  #run(body: Body, isCareful: boolean): BatchOutcome {
    const [savepoints, delayed, { size }] = [this.#savepoints, this.#delayed, this.#changes];
    const transaction = new SqliteTransaction(this.#contents, { savepoints, delayed, size, isCareful });
    try {
      const value = checkSettled(body(transaction));
      savepoints.keep();
      transaction.settle();
      return { value };
    } catch (error) {
      // Without a savepoint nothing but rows was written.
      if (savepoints.saved) this.#contents.records.forget();
      savepoints.undo(error);
      return { error: isOfDisk(error) ? new CommitFailed(this.#path, error) : this.#told(error) };
    } finally {
      transaction.end();
    }
  }

  #commit(): void {
    if (this.#flush?.hasFailed) throw notFlushed();
    if (this.#delayed.size > 0) this.#savepoints.writeForAll(() => carryOutDelayed(this.#delayed, this.#contents));
    if (!this.#savepoints.begun) return;
    const { records, counters, revisions } = this.#contents;
    records.purge();
    counters.purge();
    const mark = revisions.reserve();
    this.#savepoints.commit();
    this.#flush?.committed();
    revisions.committed(mark);
  }

  #abandon(cause: unknown): LostBatch {
    const isOfOne = this.#savepoints.isLost && !isOfDisk(cause);
    this.#savepoints.rollBack();
    this.#delayed.clear();
    this.#contents.records.forget();
    return { isOfOne, error: new CommitFailed(this.#path, cause) };
  }

  /** Looks outside of any change. What fails has given up the transaction that it was in. */
  #look<T>(work: () => T): T {
    this.#checkFree();
    try {
      return work();
    } catch (error) {
      this.#snapshot.end();
      throw this.#told(error);
    }
  }

  /** A failure in words of its own, where SQLite found the file damaged. */
  #told(error: unknown): unknown {
    const isDamaged = (errorNumber(error) & 0xff) === CORRUPT;
    return isDamaged && error instanceof Error ? new Damaged(this.#path, error.message, { cause: error }) : error;
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

function notFlushed(): Error {
  return new Error('what was stored before it could not be brought to disk; see to the disk, and start the service again');
}

function checkSettled<T>(value: T): T {
  if (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function') {
    // Nobody will wait for it any more, so a failure of its own must not go unhandled.
    value.then(undefined, () => {});
    throw new TypeError('the body returned a promise; do what waits before it, and return a value');
  }
  return value;
}
