/** The writes of a batch, and how they are taken back: some are carried out together at its end, others inside a savepoint. */

import type { DatabaseSync } from 'node:sqlite';
import type { NewEvent } from '../outbox.ts';
import type { NewRow, Row, StoredRecord } from '../store.ts';
import { type Statement, statement } from './statement.ts';

/**
 * The transaction of a batch and the savepoint of the body that runs in it. Writes that can be taken back by themselves do without a
 * savepoint, until one comes that cannot: most bodies write nothing else at once.
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
  /** Takes back what the body wrote before its savepoint, one write after the other. */
  #takeBack: (() => void)[] = [];
  #failure: { readonly cause: unknown; readonly ofAll: boolean } | undefined;

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

  /** Whether the body that runs has a savepoint. */
  get saved(): boolean {
    return this.#saved;
  }

  /** Whether what was written for all bodies failed. */
  get isLost(): boolean {
    return this.#failure?.ofAll ?? false;
  }

  /** Called before each write of a body; `takeBack` undoes that write, and nothing where it was not carried out. */
  open(takeBack?: () => void): void {
    if (this.#failure) throw this.#failure.cause;
    if (this.#saved) return;
    this.begin();
    if (takeBack && this.#takeBack.length < TAKEN_BACK_MOST) {
      this.#takeBack.push(takeBack);
      return;
    }
    this.#save.get();
    this.#saved = true;
  }

  /** Begins the transaction of the batch where it has not begun. */
  begin(): void {
    if (this.#begun) return;
    this.#snapshot.end();
    this.#begin.get();
    this.#begun = true;
  }

  /** Writes what bodies before this one left to be written, while this one has no savepoint. Where that fails, the batch is lost. */
  writeForAll(write: () => void): void {
    if (this.#failure) throw this.#failure.cause;
    this.begin();
    try {
      write();
    } catch (cause) {
      this.#failure = { cause, ofAll: true };
      throw cause;
    }
  }

  /** A write went wrong in a way that its body cannot mend: the body fails, also where it caught the error. */
  fail(cause: unknown): void {
    this.#failure ??= { cause, ofAll: false };
  }

  /** Ends a body that returned. */
  keep(): void {
    if (this.#failure) throw this.#failure.cause;
    this.#takeBack.length = 0;
    if (!this.#saved) return;
    this.#saved = false;
    this.#release.get();
  }

  /** Ends a body that threw, leaving nothing of it. Where the whole batch is lost, throws why. */
  undo(cause: unknown): void {
    const why = this.#failure?.cause ?? cause;
    if (this.#failure?.ofAll) throw why;
    const [saved, takeBack] = [this.#saved, this.#takeBack];
    this.#failure = undefined;
    this.#saved = false;
    this.#takeBack = [];
    if (!saved && takeBack.length === 0) return;
    // SQLite may have given it up.
    if (!this.#database.isTransaction) throw why;
    if (saved) {
      this.#rollBack.get();
      this.#release.get();
    }
    for (let last = takeBack.length - 1; last >= 0; last--) takeBack[last]!();
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
    this.#takeBack = [];
    this.#failure = undefined;
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }
}

/** Beyond so many writes of one body, a savepoint is the cheaper way. */
const TAKEN_BACK_MOST = 16;

/**
 * The read transaction that stays open from one change to the next. Nobody else writes to the file, so what it shows is what is committed;
 * and SQLite takes the lock of a reader once instead of for each statement.
 */
export class Snapshot {
  readonly #database: DatabaseSync;
  readonly #begin: Statement;
  readonly #end: Statement;
  #begun = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = statement(database, 'BEGIN');
    this.#end = statement(database, 'COMMIT');
  }

  begin(): void {
    if (this.#begun) return;
    this.#begin.get();
    this.#begun = true;
  }

  /** Called before whatever begins a transaction of its own, and where a read failed: SQLite may have given up the transaction then. */
  end(): void {
    if (!this.#begun) return;
    this.#begun = false;
    if (!this.#database.isTransaction) return;
    try {
      this.#end.get();
    } catch {
      // Nothing was written, so nothing is lost: of a damaged file whoever reads or writes next is told.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    }
  }
}

/** A row that is to become another; `stored` is what it is then. */
interface DelayedUpdate {
  readonly table: string;
  readonly row: NewRow;
  readonly stored: Row;
}

/** What carries delayed writes out. */
interface Writing {
  update(table: string, row: NewRow, stored: Row): void;
  keep(key: string, record: StoredRecord): void;
  addEvent(seq: number, event: NewEvent): void;
}

interface DelayedEvent {
  readonly seq: number;
  readonly event: NewEvent;
}

/**
 * Writes that nobody has to see in the file at once. A body that writes nothing else needs no savepoint, for which SQLite copies each page before it
 * changes; and one statement that runs for many bodies is quicker than many in turns. They are carried out before the batch is
 * committed, and before any question that could see them.
 */
export class Delayed {
  /** By their table and identifier. */
  readonly #updates = new Map<string, Map<string, DelayedUpdate>>();
  readonly #records = new Map<string, StoredRecord>();
  readonly #events: DelayedEvent[] = [];
  #size = 0;

  /** Zero where nothing is delayed; else how often something was. */
  get size(): number {
    return this.#size;
  }

  row(table: string, id: string): Row | undefined {
    return this.#updates.get(table)?.get(id)?.stored;
  }

  record(key: string): StoredRecord | undefined {
    return this.#records.get(key);
  }

  /** What a body delayed is delayed by its batch, once the body has returned. */
  take({ updates, records, events }: DelayedByBody): void {
    for (const update of updates) this.#rowsOf(update.table).set(update.row.id, update);
    for (const { key, record } of records) this.#records.set(key, record);
    for (const event of events) this.#events.push(event);
    this.#size += updates.length + records.length + events.length;
  }

  carryOut(writing: Writing): void {
    for (const updates of this.#updates.values())
      for (const { table, row, stored } of updates.values()) writing.update(table, row, stored);
    for (const [key, record] of this.#records) writing.keep(key, record);
    for (const { seq, event } of this.#events) writing.addEvent(seq, event);
    this.clear();
  }

  clear(): void {
    for (const updates of this.#updates.values()) updates.clear();
    this.#records.clear();
    this.#events.length = 0;
    this.#size = 0;
  }

  #rowsOf(table: string): Map<string, DelayedUpdate> {
    const known = this.#updates.get(table);
    if (known) return known;
    const made = new Map<string, DelayedUpdate>();
    this.#updates.set(table, made);
    return made;
  }
}

/** What one body delays: so little that it is found by looking through it. */
export class DelayedByBody {
  readonly updates: DelayedUpdate[] = [];
  readonly records: { readonly key: string; readonly record: StoredRecord }[] = [];
  readonly events: DelayedEvent[] = [];

  get size(): number {
    return this.updates.length + this.records.length + this.events.length;
  }

  row(table: string, id: string): Row | undefined {
    const at = this.#at(table, id);
    return at < 0 ? undefined : this.updates[at]?.stored;
  }

  record(key: string): StoredRecord | undefined {
    return this.records.find((one) => one.key === key)?.record;
  }

  update(update: DelayedUpdate): void {
    const at = this.#at(update.table, update.row.id);
    if (at < 0) this.updates.push(update);
    else this.updates[at] = update;
  }

  keep(key: string, record: StoredRecord): void {
    const at = this.records.findIndex((one) => one.key === key);
    if (at < 0) this.records.push({ key, record });
    else this.records[at] = { key, record };
  }

  addEvent(seq: number, event: NewEvent): void {
    this.events.push({ seq, event });
  }

  carryOut(writing: Writing): void {
    for (const { table, row, stored } of this.updates) writing.update(table, row, stored);
    for (const { key, record } of this.records) writing.keep(key, record);
    for (const { seq, event } of this.events) writing.addEvent(seq, event);
    this.updates.length = 0;
    this.records.length = 0;
    this.events.length = 0;
  }

  #at(table: string, id: string): number {
    for (let at = 0; at < this.updates.length; at++) {
      // The cast holds: `at` is below the length.
      const update = this.updates[at] as DelayedUpdate;
      if (update.row.id === id && update.table === table) return at;
    }
    return -1;
  }
}
