import { DatabaseSync } from 'node:sqlite';
import { ReadTooLong } from '../failures.ts';
import type { Reader, TableSpec } from '../store.ts';
import { OutboxReads } from './outbox.ts';
import { Asks, runAsking, SqliteReader } from './reader.ts';
import { CredentialTable, Records } from './records.ts';
import { Tables } from './tables.ts';
import type { Slices } from './walk.ts';
import { type LongReadOptions, TurnBudget, type TurnTime } from './walk.ts';

/** How many long reads are under way at once; others wait for one of them. */
const viewsMost = 4;
/** How many wait at most. */
const waitingMost = 1000;

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
