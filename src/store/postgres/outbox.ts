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
import type { FoundValues, Sql } from './connection.ts';
import { arrayText, read, written } from './dialect.ts';
import type { StoreAsk } from './facts.ts';
import type { Op } from './ops.ts';
import type { State } from './state.ts';

const EVENT_COLUMNS = 'seq, id, kind, at, operation, resource, "row", payload, image, trace';
const DELIVERY_COLUMNS = 'seq, event, subscriber, tries, due, settled, outcome';

type Values = readonly (string | number | null)[];

/** Reads what is kept of events. */
export class PostgresOutbox implements OutboxReader {
  protected readonly state: State;

  constructor(state: State) {
    this.state = state;
  }

  event(seq: number): StoredEvent | undefined {
    return this.#events('WHERE seq = $1::int8', [seq])[0];
  }

  eventNamed(id: string): StoredEvent | undefined {
    return this.#events('WHERE id = $1', [id])[0];
  }

  events(afterSeq: number, most: number): StoredEvent[] {
    return this.#events('WHERE seq > $1::int8 ORDER BY seq LIMIT $2::int8', [afterSeq, most]);
  }

  lastEvent(): number {
    const [found] = this.ask(`SELECT seq FROM ${this.own('events')} ORDER BY seq DESC LIMIT 1`, []);
    return found ? Number(found[0]) : 0;
  }

  due(subscriber: string, nowMs: number, most: number, after?: DuePlace): StoredDelivery[] {
    const place = after ?? { dueMs: Number.MIN_SAFE_INTEGER, seq: 0 };
    return this.#deliveries(
      `WHERE subscriber = $1 AND due >= $2::int8 AND (due, seq) > ($2::int8, $3::int8) AND due <= $4::int8
       ORDER BY due, seq LIMIT $5::int8`,
      [subscriber, place.dueMs, place.seq, nowMs, most],
    );
  }

  awaited(afterSubscriber: string): { readonly subscriber: string; readonly dueMs: number } | undefined {
    const [found] = this.ask(
      `SELECT subscriber, due FROM ${this.own('deliveries')} WHERE subscriber > $1 AND due IS NOT NULL ORDER BY subscriber, due LIMIT 1`,
      [afterSubscriber],
    );
    return found && { subscriber: textOf(found[0]), dueMs: Number(found[1]) };
  }

  dueFirst(subscriber: string): number | undefined {
    const [found] = this.ask(
      `SELECT due FROM ${this.own('deliveries')} WHERE subscriber = $1 AND due IS NOT NULL ORDER BY due LIMIT 1`,
      [subscriber],
    );
    return found && Number(found[0]);
  }

  delivery(seq: number): StoredDelivery | undefined {
    return this.#deliveries('WHERE seq = $1::int8', [seq])[0];
  }

  deliveries({ beforeSeq = Number.MAX_SAFE_INTEGER, event, outcome }: DeliveryQuery, most: number): StoredDelivery[] {
    const tests = ['seq < $1::int8'];
    const values: (string | number)[] = [beforeSeq, most];
    if (event !== undefined) {
      values.push(event);
      tests.push(`event = $${values.length}::int8`);
    }
    // WrittenFacts out, so that the index of those given up is used.
    if (outcome !== undefined) tests.push(`outcome = '${outcome}'`);
    return this.#deliveries(`WHERE ${tests.join(' AND ')} ORDER BY seq DESC LIMIT $2::int8`, values);
  }

  attempts(delivery: number): Attempt[] {
    const found = this.ask(
      `SELECT at, took, status, error, response FROM ${this.own('attempts')} WHERE delivery = $1::int8 ORDER BY n`,
      [delivery],
    );
    return found.map(([at, took, status, error, response]) => ({
      atMs: Number(at),
      tookMs: Number(took),
      status: status === null ? null : Number(status),
      error: textOrNull(error),
      response: textOrNull(response),
    }));
  }

  subscriber(id: string): string | undefined {
    const sql = { text: `SELECT state FROM ${this.own('subscribers')} WHERE id = $1`, values: [written(id)] };
    const [found] = this.state.ask(asking('subscribers', [sql], ([rows = []]) => rows as readonly Values[]));
    return found && textOf(found[0]);
  }

  protected own(table: string): string {
    return this.state.shapes.names.own(table);
  }

  protected ask(text: string, values: readonly (string | number)[]): readonly Values[] {
    const sql = { text, values: values.map((value) => written(String(value))) };
    // Columns of the outbox are numbers, texts and nulls.
    return this.state.ask(asking('outbox', [sql], ([rows = []]) => rows as readonly Values[]));
  }

  #events(rest: string, values: readonly (string | number)[]): StoredEvent[] {
    return this.ask(`SELECT ${EVENT_COLUMNS} FROM ${this.own('events')} ${rest}`, values).map(
      ([seq, id, kind, at, operation, resource, row, payload, image, trace]) => ({
        seq: Number(seq),
        id: textOf(id),
        kind: textOf(kind),
        atMs: Number(at),
        operation: textOf(operation),
        resource: textOrNull(resource),
        row: textOrNull(row),
        payload: textOf(payload),
        image: textOrNull(image),
        ...(trace !== null && { trace: textOf(trace) }),
      }),
    );
  }

  #deliveries(rest: string, values: readonly (string | number)[]): StoredDelivery[] {
    return this.ask(`SELECT ${DELIVERY_COLUMNS} FROM ${this.own('deliveries')} ${rest}`, values).map(
      ([seq, event, subscriber, tries, due, settled, outcome]) => ({
        seq: Number(seq),
        event: Number(event),
        subscriber: textOf(subscriber),
        tries: Number(tries),
        dueMs: due === null || due === undefined ? null : Number(due),
        settledMs: settled === null || settled === undefined ? null : Number(settled),
        // It was written as one of them.
        outcome: (outcome ?? null) as DeliveryOutcome | null,
      }),
    );
  }
}

function asking<T>(concern: string, sql: readonly Sql[], value: (found: readonly (readonly FoundValues[])[]) => T): StoreAsk<T> {
  return { key: sql.map(({ text, values }) => `${text}\n${JSON.stringify(values)}`).join('\n'), concerns: [concern], sql, value };
}

function textOf(value: string | number | null | undefined): string {
  return read(String(value));
}

function textOrNull(value: string | number | null | undefined): string | null {
  return value === null || value === undefined ? null : textOf(value);
}

/** Writes them inside one body of a change. */
export class PostgresOutboxChange extends PostgresOutbox implements Outbox {
  readonly #check: () => void;

  constructor(state: State, check: () => void) {
    super(state);
    this.#check = check;
  }

  addEvent(event: NewEvent): number {
    const seq = this.#next();
    this.#does({ kind: 'addEvent', touches: `event ${seq}`, exact: String(seq), of: { ...event, seq } });
    return seq;
  }

  addDelivery(delivery: NewDelivery): number {
    const seq = this.#next();
    this.#does({ kind: 'addDelivery', touches: 'deliveries', exact: String(seq), of: { ...delivery, seq } });
    return seq;
  }

  attempted(delivery: number, attempt: Attempt): void {
    const exact = String(this.state.own.ops.length);
    this.#does({ kind: 'attempted', touches: `attempts ${delivery}`, exact, of: { ...attempt, delivery } });
  }

  postpone(delivery: number, dueMs: number): void {
    this.#does({ kind: 'postpone', touches: 'deliveries', exact: String(delivery), of: { delivery, dueMs } });
  }

  settle(delivery: number, outcome: DeliveryOutcome, nowMs: number): void {
    this.#does({ kind: 'settle', touches: 'deliveries', exact: String(delivery), of: { delivery, outcome, nowMs } });
  }

  again(delivery: number, nowMs: number): boolean {
    this.#check();
    if (!this.delivery(delivery)) return false;
    this.#does({ kind: 'again', touches: 'deliveries', exact: String(delivery), of: { delivery, nowMs } });
    return true;
  }

  keepSubscriber(id: string, state: string): void {
    this.#check();
    this.state.does({ kind: 'keepSubscriber', touches: `subscriber ${id}`, exact: id, of: { id, state } }, 'subscribers');
  }

  forgetSubscriber(id: string): void {
    this.#check();
    this.state.does({ kind: 'forgetSubscriber', touches: `subscriber ${id}`, exact: id, of: { id } }, 'subscribers');
  }

  prune(deliveriesBeforeMs: number, events: EventStretch, most: number): { removed: number; reached: number } {
    this.#check();
    const { beforeMs, afterSeq, throughSeq } = events;
    const deliveries = this.ask(
      `SELECT seq FROM ${this.own('deliveries')} WHERE settled < $1::int8 ORDER BY settled, seq LIMIT $2::int8`,
      [deliveriesBeforeMs, most],
    ).map(([seq]) => Number(seq));
    const page = this.ask(
      `SELECT e.seq, e.at, (EXISTS (SELECT 1 FROM ${this.own('deliveries')} AS d WHERE d.event = e.seq AND d.seq <> ALL($4::int8[])))::int4
       FROM ${this.own('events')} AS e WHERE e.seq > $1::int8 AND e.seq <= $2::int8 ORDER BY e.seq LIMIT $3::int8`,
      [afterSeq, throughSeq, most, arrayText(deliveries)],
    );
    const gone: number[] = [];
    let reached = afterSeq;
    for (const [seq, at, held] of page) {
      if (Number(at) >= beforeMs) break;
      reached = Number(seq);
      if (Number(held) === 0) gone.push(reached);
    }
    if (deliveries.length + gone.length > 0)
      this.#does({ kind: 'prune', touches: '*', exact: '*', of: { deliveries, events: gone } });
    return { removed: deliveries.length + gone.length, reached };
  }

  #next(): number {
    this.#check();
    this.state.revision += 1;
    return this.state.revision;
  }

  #does(op: Op): void {
    this.#check();
    this.state.does(op, 'outbox');
  }
}
