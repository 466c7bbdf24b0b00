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
  RowNumbers,
  Scalar,
  StoredCredential,
  StoredRecord,
  Timer,
  Transaction,
} from '../store.ts';
import type { CredentialTable } from './credentials.ts';
import { OutboxChange, type OutboxReads } from './outbox.ts';
import type { CounterTable, Records, Revisions, TimerRecords } from './records.ts';
import type { Savepoints } from './savepoints.ts';
import type { Statement } from './statement.ts';
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
export type Answers = Pick<Reader, 'all' | 'joined' | 'count' | 'numbers'>;

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

  numbers(query: QuerySpec, params: readonly Scalar[]): RowNumbers {
    return this.#long ? this.#long.numbers(query, params) : this.contents.tables.query(query).numbers(params);
  }

  among(query: QuerySpec, params: readonly Scalar[], numbers: readonly number[]): FoundRow[] {
    return this.contents.tables.query(query).among(params, numbers);
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
  readonly batch: number;

  constructor(contents: Contents, savepoints: Savepoints, batch: number) {
    super(contents);
    this.batch = batch;
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
