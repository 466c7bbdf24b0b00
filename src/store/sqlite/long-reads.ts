import { DatabaseSync } from 'node:sqlite';
import { ReadTooLong } from '../failures.ts';
import type { JoinedRows, QuerySpec, Reader, Scalar, TableSpec } from '../store.ts';
import { type LongReadOptions, OutOfTurn, TurnBudget, type TurnTime } from './budget.ts';
import { CredentialTable } from './credentials.ts';
import { OutboxReads } from './outbox.ts';
import { Records } from './records.ts';
import { SlicedRead, type Slices } from './slices.ts';
import { type CompiledQuery, joinedOf, Tables } from './tables.ts';
import { type Answers, SqliteReader } from './transaction.ts';

/** How many long reads are under way at once; others wait for one of them. */
const viewsMost = 4;
/** How many wait at most. */
const waitingMost = 1000;

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

/** What a long read looks through: a connection of its own, with the rows as they were when it began. */
interface View {
  readonly database: DatabaseSync;
  readonly asks: Asks;
  reader: SqliteReader;
  /** The tables that its statements are of. */
  specs: readonly TableSpec[];
  tables: Tables;
}

interface Job {
  readonly slices: Slices<unknown>;
  readonly goesOn: () => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What long reads need of the store that they are of. */
interface LongReadMeans {
  readonly path: string;
  /** The connection that writes: where rows are in memory there is no other. */
  readonly database: DatabaseSync;
  readonly budget: TurnBudget;
  readonly time: TurnTime;
  readonly tables: () => readonly TableSpec[];
  readonly options: LongReadOptions;
}

/**
 * Reads that take longer than one turn of the event loop may: the body is run on a connection of its own, whose rows do not change
 * meanwhile, each question that is long is answered in slices between other work, and the body is run again with the answer.
 * Of a store in memory rows are seen as they are when their slice is looked at.
 */
export class LongReads {
  readonly #means: LongReadMeans;
  readonly #free: View[] = [];
  #views = 0;
  #waiting: { readonly take: (view: View) => void; readonly fail: (error: Error) => void }[] = [];
  #jobs: Job[] = [];
  #isTicking = false;
  #underWay = 0;
  #idle: (() => void)[] = [];
  /** What new reads wait for. */
  #gate: Promise<void> | undefined;
  #isClosed = false;

  constructor(means: LongReadMeans) {
    this.#means = means;
  }

  async read<T>(body: (reader: Reader) => T, goesOn: () => void): Promise<T> {
    const until = performance.now() + (this.#means.options.mostMs ?? 30_000);
    const mayGoOn = () => {
      if (this.#isClosed) throw new Error(`${this.#means.path} is closed`);
      goesOn();
      if (performance.now() > until) throw new ReadTooLong();
    };
    while (this.#gate) await this.#gate;
    this.#underWay += 1;
    try {
      const view = await this.#take();
      try {
        return await this.#inView(view, body, mayGoOn);
      } finally {
        this.#give(view);
      }
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) for (const tell of this.#idle.splice(0)) tell();
    }
  }

  /** Does something while no long read is under way. */
  async alone(work: () => void): Promise<void> {
    while (this.#gate) await this.#gate;
    let open = () => {};
    this.#gate = new Promise((resolve) => (open = resolve));
    try {
      if (this.#underWay > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
      work();
    } finally {
      this.#gate = undefined;
      open();
    }
  }

  /** Ends the reads that are under way, each with a failure. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { fail } of this.#waiting.splice(0)) fail(new Error(`${this.#means.path} is closed`));
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    for (const { database } of this.#free.splice(0)) if (database !== this.#means.database) database.close();
  }

  async #inView<T>(view: View, body: (reader: Reader) => T, goesOn: () => void): Promise<T> {
    const { database, asks } = view;
    const isOwn = database !== this.#means.database;
    if (isOwn) database.exec('BEGIN');
    try {
      for (;;) {
        const outcome = runAsking(asks, () => body(view.reader));
        if ('value' in outcome) return outcome.value;
        const { key, slices } = outcome.stopped;
        const answer = await new Promise((resolve, reject) => this.#add({ slices, goesOn, resolve, reject }));
        asks.answers.set(key, answer);
      }
    } finally {
      asks.answers.clear();
      if (isOwn && database.isTransaction) database.exec('ROLLBACK');
    }
  }

  async #take(): Promise<View> {
    const view = this.#free.pop();
    if (view) return this.#current(view);
    if (this.#views < viewsMost) {
      this.#views += 1;
      try {
        return this.#open();
      } catch (error) {
        this.#views -= 1;
        throw error;
      }
    }
    if (this.#waiting.length >= waitingMost) throw new ReadTooLong();
    return this.#current(await new Promise((take, fail) => this.#waiting.push({ take, fail })));
  }

  #give(view: View): void {
    const next = this.#waiting.shift();
    if (next) next.take(view);
    else this.#free.push(view);
  }

  #open(): View {
    const { path, options, tables } = this.#means;
    const isMemory = path === ':memory:';
    const database = isMemory ? this.#means.database : new DatabaseSync(path, { readOnly: true, timeout: 1000 });
    if (!isMemory) database.exec('PRAGMA cache_size = -8192; PRAGMA mmap_size = 1073741824; PRAGMA temp_store = MEMORY;');
    const budget = isMemory ? this.#means.budget : new TurnBudget(database, this.#means.time, options);
    const specs = tables();
    const made = new Tables(database, specs);
    const asks: Asks = new Asks(budget, () => view.tables, options);
    const view: View = { database, asks, specs, tables: made, reader: readerOf(database, made, asks) };
    return view;
  }

  /** A view of the tables that there are now. */
  #current(view: View): View {
    const specs = this.#means.tables();
    if (view.specs === specs) return view;
    view.specs = specs;
    view.tables = new Tables(view.database, specs);
    view.reader = readerOf(view.database, view.tables, view.asks);
    return view;
  }

  #add(job: Job): void {
    this.#jobs.push(job);
    if (this.#isTicking) return;
    this.#isTicking = true;
    setImmediate(this.#tick);
  }

  /** One turn's slices, by turns of all that are under way. */
  readonly #tick = (): void => {
    const until = performance.now() + (this.#means.options.sliceMs ?? 4);
    do {
      const job = this.#jobs.shift();
      if (!job) break;
      try {
        job.goesOn();
        const { done, value } = job.slices.next();
        if (done) job.resolve(value);
        else this.#jobs.push(job);
      } catch (error) {
        job.reject(error);
      }
    } while (performance.now() < until);
    this.#isTicking = this.#jobs.length > 0;
    if (this.#isTicking) setImmediate(this.#tick);
  };
}

function readerOf(database: DatabaseSync, tables: Tables, asks: Asks): SqliteReader {
  const contents = {
    tables,
    records: new Records(database),
    credentials: new CredentialTable(database),
    outbox: new OutboxReads(database),
  };
  return new SqliteReader(contents, asks);
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
