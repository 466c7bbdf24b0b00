import { Duplicate } from '../failures.ts';
import type { Erased, Erasure } from '../maintenance.ts';
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
import { insertEvent, OutboxChange } from './outbox.ts';
import { type Contents, SqliteReader } from './reader.ts';
import { type Delayed, DelayedByBody, type Savepoints } from './savepoints.ts';

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
  readonly #known: KnownRow[] = [];
  readonly #delayed = new DelayedByBody();
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
    const at = this.#knownAt(table, id);
    if (at >= 0) return this.#known[at]?.row;
    const known = this.#delayed.row(table, id) ?? this.#means.delayed.row(table, id);
    if (known) return known;
    const found = super.get(table, id);
    return found && this.#know(table, found);
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
      table,
      this.#guarded(() => rows.insert(row, rev)),
    );
  }

  update(table: string, row: NewRow): Row {
    const rows = this.contents.tables.rows(table);
    const rev = this.contents.revisions.next();
    const before = this.#mayDelay && !rows.hasUnique ? this.get(table, row.id) : undefined;
    if (!before)
      return this.#know(
        table,
        this.#write(() => rows.update(row, rev)),
      );
    rows.checkWidth(row);
    const stored = { id: row.id, seq: before.seq, rev, entered: row.entered, doc: row.doc };
    this.#delayed.update({ table, row, stored });
    return this.#know(table, stored);
  }

  remove(table: string, id: string): void {
    const { tables, timers } = this.contents;
    const at = this.#knownAt(table, id);
    if (at >= 0) this.#known.splice(at, 1);
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
    this.#known.length = 0;
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

  #know(table: string, row: Row): Row {
    const at = this.#knownAt(table, row.id);
    if (at >= 0) this.#known[at] = { table, row };
    else {
      if (this.#known.length >= KNOWN_MOST) this.#known.length = 0;
      this.#known.push({ table, row });
    }
    return row;
  }

  /** They are few: looking through them costs less than a key that is made of both. */
  #knownAt(table: string, id: string): number {
    for (let at = 0; at < this.#known.length; at++) {
      // The cast holds: `at` is below the length.
      const known = this.#known[at] as KnownRow;
      if (known.row.id === id && known.table === table) return at;
    }
    return -1;
  }
}

interface KnownRow {
  readonly table: string;
  readonly row: Row;
}

/** A body that goes through very many rows keeps few of them, and delays few. */
const KNOWN_MOST = 64;
const DELAYED_MOST = 256;

export function carryOutDelayed(delayed: Delayed | DelayedByBody, contents: Contents): void {
  delayed.carryOut({
    update: (table, row, { rev, seq }) => contents.tables.rows(table).replace(row, rev, seq),
    keep: (key, record) => contents.records.keep(key, record),
    addEvent: (seq, event) => insertEvent(contents.outbox, seq, event),
  });
}
