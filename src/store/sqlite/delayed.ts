import type { NewEvent } from '../outbox.ts';
import type { NewRow, Row, StoredRecord } from '../store.ts';

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

interface DelayedRecord {
  readonly key: string;
  readonly record: StoredRecord;
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
  readonly records: DelayedRecord[] = [];
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
