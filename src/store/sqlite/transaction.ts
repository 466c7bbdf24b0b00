import type { DatabaseSync } from 'node:sqlite';
import type { Erased, Erasure } from '../erasure.ts';
import { Duplicate } from '../failures.ts';
import type { Outbox, OutboxReader } from '../outbox.ts';
import type {
  CredentialSearch,
  FoundRow,
  JoinedRows,
  NewRow,
  QuerySpec,
  Reader,
  Row,
  Scalar,
  StoredCredential,
  StoredRecord,
  Timer,
  Transaction,
} from '../store.ts';
import type { CredentialTable } from './credentials.ts';
import { OutboxChange, type OutboxReads } from './outbox.ts';
import type { CounterTable, Records, Revisions, TimerRecords } from './records.ts';
import type { Snapshot } from './snapshot.ts';
import { type Statement, statement } from './statement.ts';
import type { Tables } from './tables.ts';

/** Everything that is read through, as it is at the moment. */
interface ReadContents {
  tables: Tables;
  readonly records: Records;
  readonly credentials: CredentialTable;
  readonly outbox: OutboxReads;
}

/** Everything that is read and written through. */
export interface Contents extends ReadContents {
  readonly revisions: Revisions;
  readonly timers: TimerRecords;
  readonly counters: CounterTable;
  readonly erase: (erasure: Erasure) => Erased;
  readonly sequence: Statement<[number]>;
  /** Empties every table of what clients made. */
  readonly clear: () => void;
}

/** What answers questions that may look at very many rows. */
export type Answers = Pick<Reader, 'all' | 'joined' | 'count'>;

/** Reads what the connection sees: committed rows, and inside a change those that it has written. */
export class SqliteReader implements Reader {
  protected readonly contents: ReadContents;
  readonly #long: Answers | undefined;

  /** `long` is asked whatever may take long; without it everything is answered at once. */
  constructor(contents: ReadContents, long?: Answers) {
    this.contents = contents;
    this.#long = long;
  }

  get(table: string, id: string): Row | undefined {
    return this.contents.tables.rows(table).get(id);
  }

  text(table: string, id: string): Pick<Row, 'doc' | 'rev'> | undefined {
    return this.contents.tables.rows(table).text(id);
  }

  holder(table: string, column: string, value: Scalar): string | undefined {
    return this.contents.tables.rows(table).holder(column, value);
  }

  all(query: QuerySpec, params: readonly Scalar[]): FoundRow[] {
    const asked = this.contents.tables.query(query);
    return this.#long && asked.mayBeLong(params) ? this.#long.all(query, params) : asked.all(params);
  }

  joined(query: QuerySpec, params: readonly Scalar[], wantsFirst: boolean): JoinedRows {
    const asked = this.contents.tables.query(query);
    return this.#long && asked.mayBeLong(params)
      ? this.#long.joined(query, params, wantsFirst)
      : asked.joined(params, wantsFirst);
  }

  count(query: QuerySpec, params: readonly Scalar[]): number {
    return this.#long && query.where ? this.#long.count(query, params) : this.contents.tables.query(query).count(params);
  }

  scan(table: string, afterSeq: number, most: number): Row[] {
    return this.contents.tables.rows(table).scan(afterSeq, most);
  }

  record(key: string, nowMs: number): StoredRecord | undefined {
    return this.contents.records.find(key, nowMs);
  }

  credentials(search: CredentialSearch): StoredCredential[] {
    return this.contents.credentials.find(search);
  }

  readonly holds = () => true; // One process has a file.

  get outbox(): OutboxReader {
    return this.contents.outbox;
  }
}

/** What one body of a change is given. It writes while the body runs, and never after. */
export class SqliteTransaction extends SqliteReader implements Transaction {
  declare protected readonly contents: Contents;
  readonly #savepoints: Savepoints;
  #ended = false;
  #outbox: Outbox | undefined;

  constructor(contents: Contents, savepoints: Savepoints) {
    super(contents);
    this.#savepoints = savepoints;
  }

  end(): void {
    this.#ended = true;
  }

  insert(table: string, row: NewRow): Row {
    const rows = this.contents.tables.rows(table);
    const rev = this.contents.revisions.next();
    return this.#write(
      () => rows.insert(row, rev),
      () => rows.takeBack(rev),
    );
  }

  update(table: string, row: NewRow): Row {
    const { tables, revisions } = this.contents;
    return this.#write(() => tables.rows(table).update(row, revisions.next()));
  }

  remove(table: string, id: string): void {
    const { tables, timers } = this.contents;
    this.#write(() => {
      tables.rows(table).remove(id);
      timers.forget(table, id);
    });
  }

  keep(key: string, record: StoredRecord): void {
    this.#write(() => this.contents.records.keep(key, record));
  }

  setTimer(timer: Timer): void {
    this.#write(() => this.contents.timers.set(timer));
  }

  timerFired(timer: Timer): void {
    this.#write(() => this.contents.timers.fired(timer));
  }

  clearTimers(resource: string, id: string, name?: string): void {
    this.#write(() => this.contents.timers.clear(resource, id, name));
  }

  addTo(counter: string, amount: number, nowMs: number, expiresMs: number): number {
    return this.#write(() => this.contents.counters.add(counter, amount, nowMs, expiresMs));
  }

  next(sequence: string): number {
    return this.#write(() => this.contents.sequence.get(sequence)![0]);
  }

  putCredential(credential: StoredCredential): void {
    this.#write(() => this.contents.credentials.put(credential));
  }

  removeCredential(name: string, serial: number): void {
    this.#write(() => this.contents.credentials.remove(name, serial));
  }

  clear(): void {
    this.#write(() => this.contents.clear());
  }

  erase(erasure: Erasure): Erased {
    return this.#write(() => this.contents.erase(erasure));
  }

  override get outbox(): Outbox {
    const { outbox, revisions } = this.contents;
    this.#outbox ??= new OutboxChange(
      outbox,
      (write) => this.#write(write),
      () => revisions.next(),
    );
    return this.#outbox;
  }

  #write<T>(write: () => T, takeBack?: () => void): T {
    if (this.#ended) throw new Error('the change that this transaction was given to has ended; start another');
    this.#savepoints.open(takeBack);
    try {
      return write();
    } catch (error) {
      if (!(error instanceof Duplicate)) this.#savepoints.fail(error);
      throw error;
    }
  }
}

/**
 * The transaction of a batch and the savepoint of the body that runs in it, both opened by the first write. A first write that
 * can be taken back by itself does without: most bodies write no more than that.
 */
export class Savepoints {
  readonly #database: DatabaseSync;
  readonly #begin: Statement;
  readonly #snapshot: Snapshot;
  readonly #commit: Statement;
  readonly #save: Statement;
  readonly #release: Statement;
  readonly #rollBack: Statement;
  #begun = false;
  #saved = false;
  /** Takes back what the body wrote before its savepoint. */
  #takeBack: (() => void) | undefined;
  #failure: { readonly cause: unknown } | undefined;

  constructor(database: DatabaseSync, snapshot: Snapshot) {
    this.#database = database;
    this.#snapshot = snapshot;
    this.#begin = statement(database, 'BEGIN IMMEDIATE');
    this.#commit = statement(database, 'COMMIT');
    this.#save = statement(database, 'SAVEPOINT body');
    this.#release = statement(database, 'RELEASE body');
    this.#rollBack = statement(database, 'ROLLBACK TO body');
  }

  /** Whether anything was written since the last commit. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Called before each write; `takeBack` undoes that write, and nothing where it was not carried out. */
  open(takeBack?: () => void): void {
    if (this.#failure) throw this.#failure.cause;
    if (this.#saved) return;
    if (!this.#begun) {
      this.#snapshot.end();
      this.#begin.get();
      this.#begun = true;
    }
    if (takeBack && !this.#takeBack) {
      this.#takeBack = takeBack;
      return;
    }
    this.#save.get();
    this.#saved = true;
  }

  /** A write went wrong in a way that its body cannot mend: the body fails, also where it caught the error. */
  fail(cause: unknown): void {
    this.#failure ??= { cause };
  }

  /** Ends a body that returned. */
  keep(): void {
    if (this.#failure) throw this.#failure.cause;
    this.#takeBack = undefined;
    if (!this.#saved) return;
    this.#saved = false;
    this.#release.get();
  }

  /** Ends a body that threw, leaving nothing of it. Where SQLite has given up the whole transaction, throws why. */
  undo(cause: unknown): void {
    const why = this.#failure?.cause ?? cause;
    const [saved, takeBack] = [this.#saved, this.#takeBack];
    this.#failure = undefined;
    this.#saved = false;
    this.#takeBack = undefined;
    if (!saved && !takeBack) return;
    if (!this.#database.isTransaction) throw why;
    if (saved) {
      this.#rollBack.get();
      this.#release.get();
    }
    takeBack?.();
  }

  commit(): void {
    if (this.#begun) this.#commit.get();
    this.#begun = false;
  }

  /** Gives up the whole batch, also where SQLite has done so itself. */
  rollBack(): void {
    this.#snapshot.end();
    this.#begun = false;
    this.#saved = false;
    this.#takeBack = undefined;
    this.#failure = undefined;
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }
}
