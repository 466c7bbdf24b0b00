/** What a body reads, and how long its questions may take in a turn. */

import type { Erased, Erasure } from '../maintenance.ts';
import type { OutboxReader } from '../outbox.ts';
import type {
  CredentialSearch,
  FoundRow,
  JoinedRows,
  QuerySpec,
  Reader,
  Row,
  RowNumbers,
  Scalar,
  StoredCredential,
  StoredRecord,
} from '../store.ts';
import type { OutboxReads } from './outbox.ts';
import type { CounterTable, CredentialTable, Records, Revisions, TimerRecords } from './records.ts';
import { SlicedRead } from './slices.ts';
import type { Statement } from './statement.ts';
import { type CompiledQuery, joinedOf, type Tables } from './tables.ts';
import { type LongReadOptions, OutOfTurn, type Slices, type TurnBudget } from './walk.ts';

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

/** Questions that are asked within the time of a turn; the first for which that does not suffice stops the body that asked it. */
export class Asks {
  readonly #budget: TurnBudget;
  readonly #tables: () => Tables;
  readonly #options: LongReadOptions;
  /** What questions were answered in slices. */
  readonly answers = new Map<string, unknown>();
  stopped: { readonly key: string; readonly slices: Slices<unknown> } | undefined;

  constructor(budget: TurnBudget, tables: () => Tables, options: LongReadOptions) {
    this.#budget = budget;
    this.#tables = tables;
    this.#options = options;
  }

  all(spec: QuerySpec, params: readonly Scalar[]): ReturnType<Answers['all']> {
    return this.#ask(
      ['all', spec, params],
      (query) => query.all(params),
      (query) => this.#rows(query, params, 0),
    );
  }

  joined(spec: QuerySpec, params: readonly Scalar[], wantsFirst: boolean): JoinedRows {
    return this.#ask(
      ['joined', spec, params],
      (query) => query.joined(params, wantsFirst),
      (query) => joinedSlices(this.#rows(query, params, 1), query.most(params)),
    );
  }

  count(spec: QuerySpec, params: readonly Scalar[]): number {
    return this.#ask(
      ['count', spec, params],
      (query) => query.count(params),
      (query) => new SlicedRead(query.sliced(), params, this.#options).count(),
    );
  }

  numbers(spec: QuerySpec, params: readonly Scalar[]): readonly number[] {
    return this.#ask(
      ['numbers', spec, params],
      (query) => query.numbers(params),
      (query) => new SlicedRead(query.sliced(), params, this.#options).numbers(),
    );
  }

  #rows(query: CompiledQuery, params: readonly Scalar[], more: number): ReturnType<SlicedRead['rows']> {
    const most = query.most(params);
    return new SlicedRead(query.sliced(), params, this.#options).rows(
      most < 0 ? most : most + more,
      query.skipped(params),
      query.after,
    );
  }

  #ask<T>(
    [how, spec, params]: readonly [string, QuerySpec, readonly Scalar[]],
    atOnce: (query: CompiledQuery) => T,
    inSlices: (query: CompiledQuery) => Slices<T>,
  ): T {
    const key = this.answers.size > 0 ? keyOf(how, spec, params) : undefined;
    // What was kept under a key is what the same question was answered.
    if (key !== undefined && this.answers.has(key)) return this.answers.get(key) as T;
    try {
      return this.#budget.spend(() => atOnce(this.#tables().guarded(spec)));
    } catch (error) {
      if (error instanceof OutOfTurn)
        this.stopped ??= { key: keyOf(how, spec, params), slices: inSlices(this.#tables().query(spec)) };
      throw error;
    }
  }
}

/** The same question in two runs of a body need not be the same object. */
function keyOf(how: string, spec: QuerySpec, params: readonly Scalar[]): string {
  return JSON.stringify([how, spec, params], (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

function* joinedSlices(rows: ReturnType<SlicedRead['rows']>, most: number): Slices<JoinedRows> {
  return joinedOf(yield* rows, most);
}

/** Runs a body until it ends or one of its questions stops it; what it made of being stopped counts for nothing. */
export function runAsking<T>(
  asks: Asks,
  body: () => T,
): { readonly value: T } | { readonly stopped: NonNullable<Asks['stopped']> } {
  asks.stopped = undefined;
  let value: T;
  try {
    value = body();
  } catch (error) {
    if (asks.stopped) return { stopped: asks.stopped };
    throw error;
  }
  return asks.stopped ? { stopped: asks.stopped } : { value };
}
