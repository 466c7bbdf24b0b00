import type { DatabaseSync } from 'node:sqlite';
import type { Attempt, DeliveryOutcome, DeliveryQuery, DuePlace, OutboxReader, StoredDelivery, StoredEvent } from '../outbox.ts';
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

export const EVENT_COLUMNS = 'seq, id, kind, at, operation, resource, "row", payload, image';
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

function eventOf([seq, id, kind, atMs, operation, resource, row, payload, image]: EventValues): StoredEvent {
  return { seq, id, kind, atMs, operation, resource, row, payload, image };
}

function deliveryOf([seq, event, subscriber, tries, dueMs, settledMs, outcome]: DeliveryValues): StoredDelivery {
  return { seq, event, subscriber, tries, dueMs, settledMs, outcome };
}
