import type { DatabaseSync } from 'node:sqlite';
import type {
  Attempt,
  DeliveryOutcome,
  DeliveryQuery,
  DuePlace,
  EventStretch,
  NewDelivery,
  NewEvent,
  Outbox,
  OutboxReader,
  StoredDelivery,
  StoredEvent,
} from '../outbox.ts';
import { type Statement, statement } from './statement.ts';

type EventValues = readonly [
  seq: number,
  id: string,
  kind: string,
  at: number,
  operation: string,
  resource: string | null,
  row: string | null,
  payload: string,
  image: string | null,
  trace: string | null,
];
type DeliveryValues = readonly [
  seq: number,
  event: number,
  subscriber: string,
  tries: number,
  due: number | null,
  settled: number | null,
  outcome: DeliveryOutcome | null,
];
type AttemptValues = readonly [at: number, took: number, status: number | null, error: string | null, response: string | null];

const EVENT_COLUMNS = 'seq, id, kind, at, operation, resource, "row", payload, image, trace';
const DELIVERY_COLUMNS = 'seq, event, subscriber, tries, due, settled, outcome';

/** Reads what is kept of events. */
export class OutboxReads implements OutboxReader {
  readonly database: DatabaseSync;
  readonly #known = new Map<string, Statement>();

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  /** A statement, prepared when it is first needed: a service without events needs none. */
  sql<R extends readonly unknown[]>(text: string): Statement<R> {
    let found = this.#known.get(text);
    if (!found) {
      found = statement(this.database, text);
      this.#known.set(text, found);
    }
    // The text says what is selected, and each text is asked for with the type of that alone.
    return found as Statement<R>;
  }

  event(seq: number): StoredEvent | undefined {
    const found = this.sql<EventValues>(`SELECT ${EVENT_COLUMNS} FROM ninefold_events WHERE seq = ?`).get(seq);
    return found && eventOf(found);
  }

  eventNamed(id: string): StoredEvent | undefined {
    const found = this.sql<EventValues>(`SELECT ${EVENT_COLUMNS} FROM ninefold_events WHERE id = ?`).get(id);
    return found && eventOf(found);
  }

  events(afterSeq: number, most: number): StoredEvent[] {
    const page = this.sql<EventValues>(
      `SELECT ${EVENT_COLUMNS} FROM ninefold_events WHERE seq > ? ORDER BY seq LIMIT CAST(? AS INTEGER)`,
    );
    return page.all(afterSeq, most).map(eventOf);
  }

  lastEvent(): number {
    return this.sql<[number]>('SELECT seq FROM ninefold_events ORDER BY seq DESC LIMIT 1').get()?.[0] ?? 0;
  }

  due(subscriber: string, nowMs: number, most: number, after?: DuePlace): StoredDelivery[] {
    const later = this.sql<DeliveryValues>(
      `SELECT ${DELIVERY_COLUMNS} FROM ninefold_deliveries
       WHERE subscriber = ? AND due > ? AND due <= ? ORDER BY due, seq LIMIT CAST(? AS INTEGER)`,
    );
    if (!after) return later.all(subscriber, Number.MIN_SAFE_INTEGER, nowMs, most).map(deliveryOf);
    // Many can be due at one time; in one question the index would be read from the first of them on.
    const same = this.sql<DeliveryValues>(
      `SELECT ${DELIVERY_COLUMNS} FROM ninefold_deliveries
       WHERE subscriber = ? AND due = ? AND seq > ? ORDER BY seq LIMIT CAST(? AS INTEGER)`,
    ).all(subscriber, after.dueMs, after.seq, after.dueMs <= nowMs ? most : 0);
    const rest = same.length < most ? later.all(subscriber, after.dueMs, nowMs, most - same.length) : [];
    return [...same, ...rest].map(deliveryOf);
  }

  awaited(afterSubscriber: string): { readonly subscriber: string; readonly dueMs: number } | undefined {
    const found = this.sql<[string, number]>(
      'SELECT subscriber, due FROM ninefold_deliveries WHERE subscriber > ? AND due IS NOT NULL ORDER BY subscriber, due LIMIT 1',
    ).get(afterSubscriber);
    return found && { subscriber: found[0], dueMs: found[1] };
  }

  dueFirst(subscriber: string): number | undefined {
    return this.sql<[number]>(
      'SELECT due FROM ninefold_deliveries WHERE subscriber = ? AND due IS NOT NULL ORDER BY due LIMIT 1',
    ).get(subscriber)?.[0];
  }

  delivery(seq: number): StoredDelivery | undefined {
    const found = this.sql<DeliveryValues>(`SELECT ${DELIVERY_COLUMNS} FROM ninefold_deliveries WHERE seq = ?`).get(seq);
    return found && deliveryOf(found);
  }

  deliveries({ beforeSeq = Number.MAX_SAFE_INTEGER, event, outcome }: DeliveryQuery, most: number): StoredDelivery[] {
    const tests = ['seq < ?'];
    const values: (number | string)[] = [beforeSeq];
    if (event !== undefined) {
      tests.push('event = ?');
      values.push(event);
    }
    // Written out, so that the index of those given up is used.
    if (outcome !== undefined) tests.push(`outcome = '${outcome}'`);
    const page = this.sql<DeliveryValues>(
      `SELECT ${DELIVERY_COLUMNS} FROM ninefold_deliveries WHERE ${tests.join(' AND ')} ORDER BY seq DESC LIMIT CAST(? AS INTEGER)`,
    );
    return page.all(...values, most).map(deliveryOf);
  }

  attempts(delivery: number): Attempt[] {
    const all = this.sql<AttemptValues>(
      'SELECT at, took, status, error, response FROM ninefold_attempts WHERE delivery = ? ORDER BY n',
    );
    return all.all(delivery).map(([atMs, tookMs, status, error, response]) => ({ atMs, tookMs, status, error, response }));
  }

  subscriber(id: string): string | undefined {
    return this.sql<[string]>('SELECT state FROM ninefold_subscribers WHERE id = ?').get(id)?.[0];
  }
}

function eventOf([seq, id, kind, atMs, operation, resource, row, payload, image, trace]: EventValues): StoredEvent {
  return { seq, id, kind, atMs, operation, resource, row, payload, image, ...(trace !== null && { trace }) };
}

function deliveryOf([seq, event, subscriber, tries, dueMs, settledMs, outcome]: DeliveryValues): StoredDelivery {
  return { seq, event, subscriber, tries, dueMs, settledMs, outcome };
}

const INSERT_EVENT = `INSERT INTO ninefold_events (${EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export function insertEvent(outbox: OutboxReads, seq: number, event: NewEvent): void {
  const { id, kind, atMs, operation, resource, row, payload, image, trace } = event;
  outbox.sql(INSERT_EVENT).get(seq, id, kind, atMs, operation, resource, row, payload, image, trace ?? null);
}

/** How one body of a change writes. */
interface OutboxWriting {
  /** Called before anything is looked at. */
  readonly look: () => void;
  readonly write: <T>(write: () => T) => T;
  readonly next: () => number;
  readonly addEvent: (seq: number, event: NewEvent) => void;
}

/** Writes them inside one body of a change. */
export class OutboxChange extends OutboxReads implements Outbox {
  readonly #reads: OutboxReads;
  readonly #writing: OutboxWriting;

  constructor(reads: OutboxReads, writing: OutboxWriting) {
    super(reads.database);
    this.#reads = reads;
    this.#writing = writing;
  }

  override sql<R extends readonly unknown[]>(text: string): Statement<R> {
    this.#writing.look();
    return this.#reads.sql(text);
  }

  #write<T>(write: () => T): T {
    return this.#writing.write(write);
  }

  addEvent(event: NewEvent): number {
    const seq = this.#writing.next();
    this.#writing.addEvent(seq, event);
    return seq;
  }

  addDelivery({ event, subscriber, lane, dueMs }: NewDelivery): number {
    const seq = this.#writing.next();
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

/** The tables of events. What is looked for while delivering is found by an index that holds nothing else. */
export const OUTBOX_TABLES = `
  CREATE TABLE IF NOT EXISTS ninefold_events (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, at INTEGER NOT NULL, operation TEXT NOT NULL,
    resource TEXT, "row" TEXT, payload TEXT NOT NULL, image TEXT, trace TEXT
  );
  CREATE TABLE IF NOT EXISTS ninefold_deliveries (
    seq INTEGER PRIMARY KEY, event INTEGER NOT NULL, subscriber TEXT NOT NULL, lane TEXT, tries INTEGER NOT NULL,
    due INTEGER, settled INTEGER, outcome TEXT
  );
  CREATE INDEX IF NOT EXISTS ninefold_deliveries_due ON ninefold_deliveries (subscriber, due, seq) WHERE due IS NOT NULL;
  CREATE INDEX IF NOT EXISTS ninefold_deliveries_lane ON ninefold_deliveries (lane) WHERE settled IS NULL AND lane IS NOT NULL;
  CREATE INDEX IF NOT EXISTS ninefold_deliveries_settled ON ninefold_deliveries (settled) WHERE settled IS NOT NULL;
  CREATE INDEX IF NOT EXISTS ninefold_deliveries_failed ON ninefold_deliveries (seq) WHERE outcome = 'given up';
  CREATE INDEX IF NOT EXISTS ninefold_deliveries_event ON ninefold_deliveries (event);
  CREATE TABLE IF NOT EXISTS ninefold_attempts (
    delivery INTEGER, n INTEGER, at INTEGER NOT NULL, took INTEGER NOT NULL, status INTEGER, error TEXT, response TEXT,
    PRIMARY KEY (delivery, n)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ninefold_subscribers (id TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;`;
