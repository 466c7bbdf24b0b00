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

/**
 * Writes that nobody has to see in the file at once. A body that writes nothing else needs no savepoint, for which SQLite copies each page before it
 * changes; and one statement that runs for many bodies is quicker than many in turns. They are carried out before the batch is
 * committed, and before any question that could see them.
 */
export class Delayed {
  readonly #updates = new Map<string, DelayedUpdate>();
  readonly #records = new Map<string, StoredRecord>();
  readonly #events: { readonly seq: number; readonly event: NewEvent }[] = [];

  get size(): number {
    return this.#updates.size + this.#records.size + this.#events.length;
  }

  row(key: string): Row | undefined {
    return this.#updates.get(key)?.stored;
  }

  record(key: string): StoredRecord | undefined {
    return this.#records.get(key);
  }

  update(key: string, update: DelayedUpdate): void {
    this.#updates.set(key, update);
  }

  keep(key: string, record: StoredRecord): void {
    this.#records.set(key, record);
  }

  addEvent(seq: number, event: NewEvent): void {
    this.#events.push({ seq, event });
  }

  /** What a body delayed is delayed by its batch, once the body has returned. */
  take(later: Delayed): void {
    for (const [key, update] of later.#updates) this.#updates.set(key, update);
    for (const [key, record] of later.#records) this.#records.set(key, record);
    this.#events.push(...later.#events);
  }

  carryOut(writing: Writing): void {
    for (const { table, row, stored } of this.#updates.values()) writing.update(table, row, stored);
    for (const [key, record] of this.#records) writing.keep(key, record);
    for (const { seq, event } of this.#events) writing.addEvent(seq, event);
    this.clear();
  }

  clear(): void {
    if (this.#updates.size > 0) this.#updates.clear();
    if (this.#records.size > 0) this.#records.clear();
    this.#events.length = 0;
  }
}
