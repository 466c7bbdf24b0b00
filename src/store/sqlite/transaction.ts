import type { Outbox, OutboxReader } from '../outbox.ts';
import {
  type CredentialSearch,
  Duplicate,
  type FoundRow,
  type JoinedRows,
  type NewRow,
  type QuerySpec,
  type Reader,
  type Row,
  type Scalar,
  type StoredCredential,
  type StoredRecord,
  type Timer,
  type Transaction,
} from '../store.ts';
import type { CredentialTable } from './credentials.ts';
import { OutboxChange, type OutboxReads } from './outbox.ts';
import type { CounterTable, Records, Revisions, Timers } from './records.ts';
import type { Savepoints } from './savepoints.ts';
import type { Statement } from './statement.ts';
import type { Tables } from './tables.ts';

/** Everything that is read and written through, as it is at the moment. */
export interface Contents {
  tables: Tables;
  readonly revisions: Revisions;
  readonly records: Records;
  readonly timers: Timers;
  readonly counters: CounterTable;
  readonly credentials: CredentialTable;
  readonly outbox: OutboxReads;
  readonly sequence: Statement<[number]>;
}

/** Reads what the connection sees: committed rows, and inside a change those that it has written. */
export class SqliteReader implements Reader {
  protected readonly contents: Contents;

  constructor(contents: Contents) {
    this.contents = contents;
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
    return this.contents.tables.query(query).all(params);
  }

  joined(query: QuerySpec, params: readonly Scalar[], wantsFirst: boolean): JoinedRows {
    return this.contents.tables.query(query).joined(params, wantsFirst);
  }

  count(query: QuerySpec, params: readonly Scalar[]): number {
    return this.contents.tables.query(query).count(params);
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

  get outbox(): OutboxReader {
    return this.contents.outbox;
  }
}

/** What one body of a change is given. It writes while the body runs, and never after. */
export class SqliteTransaction extends SqliteReader implements Transaction {
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
