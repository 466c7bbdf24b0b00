import type { Erased, Erasure } from '../erasure.ts';
import { Duplicate } from '../failures.ts';
import type { Outbox } from '../outbox.ts';
import type {
  FoundRow,
  JoinedRows,
  NewRow,
  QuerySpec,
  Row,
  RowNumbers,
  Scalar,
  StoredCredential,
  StoredRecord,
  Timer,
  Transaction,
} from '../store.ts';
import { Delayed } from './delayed.ts';
import { insertEvent, OutboxChange } from './outbox.ts';
import { type Contents, SqliteReader } from './reader.ts';
import type { Savepoints } from './savepoints.ts';

/** What the bodies of one batch share. */
export interface SharedByBodies {
  readonly savepoints: Savepoints;
  /** What the bodies that returned have left to be written. */
  readonly delayed: Delayed;
  /** How many bodies it has. */
  readonly size: number;
  /** Whether each write is carried out at once, so that a body fails alone: one of the batch failed when all was written together. */
  readonly isCareful: boolean;
}

/** What one body of a change is given. It writes while the body runs, and never after. */
export class SqliteTransaction extends SqliteReader implements Transaction {
  declare protected readonly contents: Contents;
  readonly #means: SharedByBodies;
  /** Rows that this body has read or written, as they are now: what is done for a row reads it, and what it refers to, several times. */
  readonly #known = new Map<string, Row>();
  readonly #delayed = new Delayed();
  #ended = false;
  #outbox: Outbox | undefined;

  constructor(contents: Contents, means: SharedByBodies) {
    super(contents);
    this.#means = means;
  }

  get batch(): number {
    return this.#means.size;
  }

  /** Leaves what was delayed to the batch, once the body has returned. */
  settle(): void {
    this.#means.delayed.take(this.#delayed);
  }

  end(): void {
    this.#ended = true;
  }

  override get(table: string, id: string): Row | undefined {
    const key = rowKey(table, id);
    const known = this.#known.get(key) ?? this.#delayed.row(key) ?? this.#means.delayed.row(key);
    if (known) return known;
    const found = super.get(table, id);
    return found && this.#know(key, found);
  }

  override text(table: string, id: string): Pick<Row, 'doc' | 'rev'> | undefined {
    return this.get(table, id);
  }

  override record(key: string, nowMs: number): StoredRecord | undefined {
    const delayed = this.#delayed.record(key) ?? this.#means.delayed.record(key);
    if (!delayed) return super.record(key, nowMs);
    return delayed.expiresMs > nowMs ? delayed : undefined;
  }

  override holder(table: string, column: string, value: Scalar): string | undefined {
    this.#bringUp();
    return super.holder(table, column, value);
  }

  override all(query: QuerySpec, params: readonly Scalar[]): FoundRow[] {
    this.#bringUp();
    return super.all(query, params);
  }

  override joined(query: QuerySpec, params: readonly Scalar[], wantsFirst: boolean): JoinedRows {
    this.#bringUp();
    return super.joined(query, params, wantsFirst);
  }

  override count(query: QuerySpec, params: readonly Scalar[]): number {
    this.#bringUp();
    return super.count(query, params);
  }

  override numbers(query: QuerySpec, params: readonly Scalar[]): RowNumbers {
    this.#bringUp();
    return super.numbers(query, params);
  }

  override among(query: QuerySpec, params: readonly Scalar[], numbers: readonly number[]): FoundRow[] {
    this.#bringUp();
    return super.among(query, params, numbers);
  }

  override scan(table: string, afterSeq: number, most: number): Row[] {
    this.#bringUp();
    return super.scan(table, afterSeq, most);
  }

  insert(table: string, row: NewRow): Row {
    const rows = this.contents.tables.rows(table);
    const rev = this.contents.revisions.next();
    this.#checkOpen();
    this.#means.savepoints.open(() => rows.takeBack(rev));
    return this.#know(
      rowKey(table, row.id),
      this.#guarded(() => rows.insert(row, rev)),
    );
  }

  update(table: string, row: NewRow): Row {
    const rows = this.contents.tables.rows(table);
    const key = rowKey(table, row.id);
    const rev = this.contents.revisions.next();
    const before = this.#mayDelay && !rows.hasUnique ? this.get(table, row.id) : undefined;
    if (!before)
      return this.#know(
        key,
        this.#write(() => rows.update(row, rev)),
      );
    rows.checkWidth(row);
    const stored = { id: row.id, seq: before.seq, rev, entered: row.entered, doc: row.doc };
    this.#delayed.update(key, { table, row, stored });
    return this.#know(key, stored);
  }

  remove(table: string, id: string): void {
    const { tables, timers } = this.contents;
    this.#known.delete(rowKey(table, id));
    this.#write(() => {
      tables.rows(table).remove(id);
      timers.forget(table, id);
    });
  }

  keep(key: string, record: StoredRecord): void {
    if (this.#mayDelay) this.#delayed.keep(key, record);
    else this.#write(() => this.contents.records.keep(key, record));
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
    this.#known.clear();
  }

  erase(erasure: Erasure): Erased {
    return this.#write(() => this.contents.erase(erasure));
  }

  override get outbox(): Outbox {
    const { outbox, revisions } = this.contents;
    this.#outbox ??= new OutboxChange(outbox, {
      look: () => this.#bringUp(),
      write: (write) => this.#write(write),
      next: () => revisions.next(),
      addEvent: (seq, event) => {
        if (this.#mayDelay) this.#delayed.addEvent(seq, event);
        else this.#write(() => insertEvent(outbox, seq, event));
      },
    });
    return this.#outbox;
  }

  get #mayDelay(): boolean {
    this.#checkOpen();
    return !this.#means.isCareful && !this.#means.savepoints.saved && this.#delayed.size < DELAYED_MOST;
  }

  /** Carries out what was delayed, so that whatever is asked next sees it: of the bodies before without a savepoint, of this one within its own. */
  #bringUp(): void {
    const { savepoints, delayed } = this.#means;
    if (delayed.size > 0) savepoints.writeForAll(() => carryOutDelayed(delayed, this.contents));
    if (this.#delayed.size === 0) return;
    savepoints.open();
    this.#guarded(() => carryOutDelayed(this.#delayed, this.contents));
  }

  #write<T>(write: () => T): T {
    this.#checkOpen();
    this.#bringUp();
    this.#means.savepoints.open();
    return this.#guarded(write);
  }

  #guarded<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      if (!(error instanceof Duplicate)) this.#means.savepoints.fail(error);
      throw error;
    }
  }

  #checkOpen(): void {
    if (this.#ended) throw new Error('the change that this transaction was given to has ended; start another');
  }

  #know(key: string, row: Row): Row {
    if (this.#known.size >= KNOWN_MOST) this.#known.clear();
    this.#known.set(key, row);
    return row;
  }
}

/** A body that goes through very many rows keeps few of them, and delays few. */
const KNOWN_MOST = 64;
const DELAYED_MOST = 256;

function rowKey(table: string, id: string): string {
  return `${table}\n${id}`;
}

export function carryOutDelayed(delayed: Delayed, contents: Contents): void {
  delayed.carryOut({
    update: (table, row, { rev, seq }) => contents.tables.rows(table).replace(row, rev, seq),
    keep: (key, record) => contents.records.keep(key, record),
    addEvent: (seq, event) => insertEvent(contents.outbox, seq, event),
  });
}
