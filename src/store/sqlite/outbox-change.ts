import type { Attempt, DeliveryOutcome, EventStretch, NewDelivery, NewEvent, Outbox } from '../outbox.ts';
import { EVENT_COLUMNS, OutboxReads } from './outbox.ts';
import type { Statement } from './statement.ts';

/** Writes them inside one body of a change; `write` opens its savepoint. */
export class OutboxChange extends OutboxReads implements Outbox {
  readonly #reads: OutboxReads;
  readonly #write: <T>(write: () => T) => T;
  readonly #next: () => number;

  constructor(reads: OutboxReads, write: <T>(write: () => T) => T, next: () => number) {
    super(reads.database);
    this.#reads = reads;
    this.#write = write;
    this.#next = next;
  }

  override sql<R extends readonly unknown[]>(text: string): Statement<R> {
    return this.#reads.sql(text);
  }

  addEvent({ id, kind, atMs, operation, resource, row, payload, image }: NewEvent): number {
    const seq = this.#next();
    const insert = this.sql(`INSERT INTO ninefold_events (${EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#write(() => insert.get(seq, id, kind, atMs, operation, resource, row, payload, image));
    return seq;
  }

  addDelivery({ event, subscriber, lane, dueMs }: NewDelivery): number {
    const seq = this.#next();
    const waits =
      lane !== null &&
      this.sql<[number]>('SELECT 1 FROM ninefold_deliveries WHERE lane = ? AND settled IS NULL LIMIT 1').get(lane) !== undefined;
    const insert = this.sql(
      'INSERT INTO ninefold_deliveries (seq, event, subscriber, lane, tries, due) VALUES (?, ?, ?, ?, 0, ?)',
    );
    this.#write(() => insert.get(seq, event, subscriber, lane, waits ? null : dueMs));
    return seq;
  }

  attempted(delivery: number, { atMs, tookMs, status, error, response }: Attempt): void {
    const insert = this.sql(
      `INSERT INTO ninefold_attempts (delivery, n, at, took, status, error, response)
       SELECT ?1, coalesce(max(n), 0) + 1, ?2, ?3, ?4, ?5, ?6 FROM ninefold_attempts WHERE delivery = ?1`,
    );
    this.#write(() => insert.get(delivery, atMs, tookMs, status, error, response));
  }

  postpone(delivery: number, dueMs: number): void {
    const update = this.sql('UPDATE ninefold_deliveries SET tries = tries + 1, due = ? WHERE seq = ? AND settled IS NULL');
    this.#write(() => update.get(dueMs, delivery));
  }

  settle(delivery: number, outcome: DeliveryOutcome, nowMs: number): void {
    const update = this.sql<[string | null]>(
      `UPDATE ninefold_deliveries SET tries = tries + 1, due = NULL, settled = ?, outcome = ?
       WHERE seq = ? AND settled IS NULL RETURNING lane`,
    );
    const lane = this.#write(() => update.get(nowMs, outcome, delivery))?.[0];
    if (lane === null || lane === undefined) return;
    const next = this.sql(
      `UPDATE ninefold_deliveries SET due = ? WHERE due IS NULL AND seq =
       (SELECT seq FROM ninefold_deliveries WHERE lane = ? AND settled IS NULL ORDER BY seq LIMIT 1)`,
    );
    this.#write(() => next.get(nowMs, lane));
  }

  again(delivery: number, nowMs: number): boolean {
    const update = this.sql<[number]>(
      'UPDATE ninefold_deliveries SET tries = 0, due = ?, settled = NULL, outcome = NULL WHERE seq = ? RETURNING seq',
    );
    return this.#write(() => update.get(nowMs, delivery)) !== undefined;
  }

  keepSubscriber(id: string, state: string): void {
    const keep = this.sql('INSERT OR REPLACE INTO ninefold_subscribers (id, state) VALUES (?, ?)');
    this.#write(() => keep.get(id, state));
  }

  forgetSubscriber(id: string): void {
    const forget = this.sql('DELETE FROM ninefold_subscribers WHERE id = ?');
    this.#write(() => forget.get(id));
  }

  prune(deliveriesBeforeMs: number, events: EventStretch, most: number): { removed: number; reached: number } {
    const { beforeMs, afterSeq, throughSeq } = events;
    const old = this.sql<[number]>(
      'SELECT seq FROM ninefold_deliveries WHERE settled < ? ORDER BY settled LIMIT CAST(? AS INTEGER)',
    ).all(deliveriesBeforeMs, most);
    const attempts = this.sql('DELETE FROM ninefold_attempts WHERE delivery = ?');
    const delivery = this.sql('DELETE FROM ninefold_deliveries WHERE seq = ?');
    for (const [seq] of old) {
      this.#write(() => attempts.get(seq));
      this.#write(() => delivery.get(seq));
    }
    const page = this.sql<[seq: number, at: number, held: number]>(
      `SELECT seq, at, EXISTS (SELECT 1 FROM ninefold_deliveries WHERE event = ninefold_events.seq) FROM ninefold_events
       WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT CAST(? AS INTEGER)`,
    ).all(afterSeq, throughSeq, most);
    const event = this.sql('DELETE FROM ninefold_events WHERE seq = ?');
    let removed = old.length;
    let reached = afterSeq;
    for (const [seq, at, held] of page) {
      if (at >= beforeMs) break;
      reached = seq;
      if (held !== 0) continue;
      this.#write(() => event.get(seq));
      removed += 1;
    }
    return { removed, reached };
  }
}
