/** The queue of changes: batches one after the other, each with a receipt by which it is known whether it was committed. */

import { CommitFailed, CommitUnknown, Superseded } from '../failures.ts';
import { type BatchMeans, type BodyOutcome, guess, marksOf, questionOf, rest, runBodies, takeWanted } from './batch.ts';
import { bareSql, type Connection, DatabaseError, type FoundValues, isOfMachine, overSessions, type Sql } from './connection.ts';
import type { StoreNames } from './dialect.ts';
import { markNames } from './ops.ts';
import type { State } from './state.ts';

/** What a queue of changes needs of its store. */
export interface ChangesMeans<B> {
  readonly name: string;
  readonly names: StoreNames;
  readonly newState: () => State;
  /** The generation of tables that this process works with. */
  readonly generation: () => number;
  readonly run: (state: State, body: B) => BodyOutcome;
  /** A connection that is free for the next batch; a lost one is made anew. */
  readonly connection: () => Connection | Promise<Connection>;
  readonly rowTables: () => Promise<readonly string[]>;
  /** What tells this process from others. */
  readonly holder: string;
  /** What makes room beside what is kept. */
  readonly purge: (state: State) => ReturnType<typeof bareSql>[];
  /** Told what a batch changed beside rows, once it is committed, and the marks of the store's row before it. */
  readonly committed: (marks: ReadonlySet<string>, revision: number, before: FoundValues) => void;
}

interface Waiting<B> {
  readonly body: B;
  /** The tables that it was made for. */
  readonly generation: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What comes next, and what of it was found out while the batch before it was under way. */
interface Gathered<B> {
  readonly waiting: Waiting<B>[];
  /** What the first so many of them will ask for. */
  state: State | undefined;
  guessed: number;
}

const MOST_BODIES = 512;

/**
 * Changes that wait while the last batch is under way are the next batch: they share one transaction and one flush to disk. Batches of all
 * processes come one after the other, for each holds the store's row from its beginning to its commit: what a body reads there stays so until then.
 * The database never waits for what this process does besides: what bodies will ask for is found out while it works on the batch before, and answers
 * are given once it has the next one's first question.
 */
export class ChangeQueue<B> {
  readonly #means: ChangesMeans<B>;
  readonly #receipts: Receipts;
  #gathered: Gathered<B> = { waiting: [], state: undefined, guessed: 0 };
  #isRunning = false;
  #isGuessing = false;
  #drained: (() => void)[] = [];

  constructor(means: ChangesMeans<B>) {
    this.#means = means;
    this.#receipts = new Receipts(means.names, means.holder);
  }

  add(body: B): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#gathered.waiting.push({ body, generation: this.#means.generation(), resolve, reject });
      if (this.#isRunning) this.#guessSoon();
      else {
        this.#isRunning = true;
        // What else comes in this turn goes with it.
        setImmediate(() => void this.#runAll());
      }
    });
  }

  /** Resolves once nothing waits any more. */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isRunning) this.#drained.push(resolve);
      else resolve();
    });
  }

  async #runAll(): Promise<void> {
    let answer = () => {};
    for (let batch = this.#take(); batch.waiting.length > 0; batch = this.#take()) answer = await this.#runBatch(batch, answer);
    answer();
    this.#isRunning = false;
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #guessSoon(): void {
    if (this.#isGuessing) return;
    this.#isGuessing = true;
    setImmediate(() => {
      this.#isGuessing = false;
      if (this.#gathered.waiting.length > 0) this.#guess(this.#gathered);
    });
  }

  /** Finds out what they will ask for, as far as that is not known yet. */
  #guess(gathered: Gathered<B>): State {
    const state = gathered.state ?? this.#means.newState();
    gathered.state = state;
    const bodies = gathered.waiting.slice(gathered.guessed).map(({ body }) => body);
    guess(state, bodies, (body) => this.#means.run(state, body));
    gathered.guessed += bodies.length;
    return state;
  }

  /** What waits, as one batch; those that were made for other tables are told so. */
  #take(): Gathered<B> {
    for (;;) {
      const generation = this.#means.generation();
      const gathered = this.#gathered;
      const { waiting } = gathered;
      const isWhole = waiting.length <= MOST_BODIES && waiting.every((one) => one.generation === generation);
      this.#gathered = { waiting: isWhole ? [] : waiting.splice(MOST_BODIES), state: undefined, guessed: 0 };
      if (isWhole) return gathered;
      const past = waiting.filter((one) => one.generation !== generation);
      for (const { reject } of past) reject(new Superseded(this.#means.name));
      const now = waiting.filter((one) => one.generation === generation);
      if (now.length > 0 || this.#gathered.waiting.length === 0) return { waiting: now, state: undefined, guessed: 0 };
    }
  }

  /**
   * One bad change fails no other: where the database refuses a batch, its halves are tried, and at last the one alone.
   * @param answer Gives what came of the batch before; it is called once the database has the first question of this one.
   * @returns what gives what came of this one
   */
  async #runBatch(batch: Gathered<B>, answer: () => void): Promise<() => void> {
    const { waiting } = batch;
    let outcomes: readonly BodyOutcome[];
    try {
      // Where a session ends nothing of its batch is stored, or it is known that all of it is.
      outcomes = await overSessions(() => this.#carriedOut(batch, answer));
    } catch (error) {
      answer();
      if (waiting.length > 1 && error instanceof DatabaseError && !isOfMachine(error)) {
        const half = waiting.length >> 1;
        for (const part of [waiting.slice(0, half), waiting.slice(half)])
          (await this.#runBatch({ waiting: part, state: undefined, guessed: 0 }, () => {}))();
        return () => {};
      }
      const told = isOfMachine(error) ? new CommitFailed(this.#means.name, error) : error;
      outcomes = waiting.map(() => ({ error: told }));
    }
    let isTold = false;
    return () => {
      if (isTold) return;
      isTold = true;
      for (const [index, { resolve, reject }] of waiting.entries()) {
        const outcome = outcomes[index] as BodyOutcome;
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.value);
      }
    };
  }

  async #carriedOut(batch: Gathered<B>, answer: () => void): Promise<readonly BodyOutcome[]> {
    const { run, rowTables, connection: free, purge, committed, names } = this.#means;
    const generation = this.#means.generation();
    const bodies = batch.waiting.map(({ body }) => body);
    const state = this.#guess(batch);
    state.bodies = bodies.length;
    // Where this is carried out over another session, nothing is known any more.
    batch.state = undefined;
    batch.guessed = 0;
    const connecting = free();
    // To connect takes a while, and nobody waits for it who has been told.
    if (connecting instanceof Promise) answer();
    const connection = await connecting;
    const means: BatchMeans<B> = { connection, state, bodies, run: (body) => run(state, body), rowTables };
    try {
      const begun = this.#begin(connection, state, generation);
      answer();
      const before = await begun;
      const outcomes = await runBodies(means);
      if (state.touched.size === 0) {
        await connection.send([bareSql('ROLLBACK')]);
        return outcomes;
      }
      const statements = [...(await rest(means)), ...purge(state)];
      // Others hear of a change by a number that is higher than before: also where no row was written.
      state.revision += 1;
      await this.#commit(connection, [...statements, marksOf(state.touched, names, state.revision)]);
      committed(state.touched, state.revision, before);
      return outcomes;
    } catch (error) {
      if (!connection.isLost) await connection.send([bareSql('ROLLBACK')]).catch(() => {});
      throw error;
    }
  }

  /** Takes the store for this batch, and fetches what its bodies are known to need. Gives the marks of all batches before it. */
  async #begin(connection: Connection, state: State, generation: number): Promise<FoundValues> {
    const { names } = this.#means;
    const question = questionOf(state, takeWanted(state));
    const lock = `SELECT last, generation, ${markNames.join(', ')} FROM ${names.own('store')} FOR UPDATE`;
    const [, [row] = [], ...found] = await connection.send([bareSql('BEGIN'), bareSql(lock), ...question.sql]);
    question.learn(found);
    if (!row) throw new Error(`${this.#means.name} holds no store any more`);
    if (Number(row[1]) !== generation) throw new Superseded(this.#means.name);
    state.revision = Number(row[0]);
    return row.slice(2);
  }

  /** Brings a batch to disk. Where the answer is lost, the database is asked what became of it. */
  async #commit(connection: Connection, statements: readonly ReturnType<typeof bareSql>[]): Promise<void> {
    const number = this.#receipts.next();
    try {
      await connection.send([...statements, this.#receipts.leave(number), bareSql('COMMIT')]);
    } catch (error) {
      if (!(error instanceof DatabaseError) || !error.isLost) throw error;
      if (!(await this.#isCommitted(number))) throw error;
    }
  }

  /** What became of a batch. A database that restarts is waited for a while. @throws {CommitUnknown} */
  async #isCommitted(number: number): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#receipts.isLeft(await this.#means.connection(), number);
      } catch (error) {
        if (tries === TRIES_MOST) throw new CommitUnknown(this.#means.name, error);
      }
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

/** How often, and how long after each other, a database is asked that does not answer. */
const TRIES_MOST = 20;
const TRY_AGAIN_MS = 250;

/**
 * Each batch leaves a receipt in its transaction: its number, in the one row that its process has for that. Where the answer to a commit is lost,
 * the receipt says what became of the batch. The number of a transaction would not: one that a crash of the database has undone is
 * given to another transaction after it, and so is one that a standby never heard of.
 */
class Receipts {
  readonly #names: StoreNames;
  readonly #holder: string;
  #last = 0;

  /** @param holder What tells this process from others. */
  constructor(names: StoreNames, holder: string) {
    this.#names = names;
    this.#holder = holder;
  }

  /** A number that no batch of this process has had, nor an earlier try at this one. */
  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** What leaves the receipt of a batch. */
  leave(batch: number): Sql {
    return {
      text: `INSERT INTO ${this.#names.own('receipts')} (holder, batch, at) VALUES ($1, $2::int8, now())
        ON CONFLICT (holder) DO UPDATE SET batch = excluded.batch, at = excluded.at`,
      values: [this.#holder, String(batch)],
    };
  }

  /** Whether the newest batch of this process is stored; its transaction is over by then, or never gets to its end. */
  async isLeft(connection: Connection, batch: number): Promise<boolean> {
    // A batch holds the store's row until it is over. It is written, for a database may hold that against one whose lock it has lost.
    const over = bareSql(`UPDATE ${this.#names.own('store')} SET last = last`);
    const find = { text: `SELECT batch FROM ${this.#names.own('receipts')} WHERE holder = $1`, values: [this.#holder] };
    const [, [found] = []] = await connection.send([over, find]);
    return Number(found?.[0]) === batch;
  }
}

/** What removes the receipts of processes that ended long ago: nobody waits so long for the answer to a commit. */
export function oldReceipts(names: StoreNames): Sql {
  return { ...bareSql(`DELETE FROM ${names.own('receipts')} WHERE at < now() - interval '30 days'`), isOnce: true };
}
