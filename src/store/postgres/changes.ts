import { CommitFailed, CommitUnknown, Superseded } from '../failures.ts';
import { type BatchMeans, type BodyOutcome, guess, marksOf, questionOf, rest, runBodies, takeWanted } from './batch.ts';
import { bareSql, type Connection, DatabaseError, isOfMachine, overSessions } from './connection.ts';
import type { StoreNames } from './names.ts';
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
  readonly connection: () => Promise<Connection>;
  readonly rowTables: () => Promise<readonly string[]>;
  /** What makes room beside what is kept. */
  readonly purge: (state: State) => ReturnType<typeof bareSql>[];
  /** Told what a batch changed beside rows, once it is committed. */
  readonly committed: (marks: ReadonlySet<string>, revision: number) => void;
}

interface Waiting<B> {
  readonly body: B;
  /** The tables that it was made for. */
  readonly generation: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_BODIES = 512;

/**
 * Changes that wait while the last batch is under way are the next batch: they share one transaction and one flush to disk. Batches of all
 * processes come one after the other, for each holds the store's row from its beginning to its commit: what a body reads there stays so until then.
 */
export class ChangeQueue<B> {
  readonly #means: ChangesMeans<B>;
  #waiting: Waiting<B>[] = [];
  #isRunning = false;
  #drained: (() => void)[] = [];

  constructor(means: ChangesMeans<B>) {
    this.#means = means;
  }

  add(body: B): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, generation: this.#means.generation(), resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      // What else comes in this turn goes with it.
      setImmediate(() => void this.#runAll());
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
    while (this.#waiting.length > 0) {
      const generation = this.#means.generation();
      const batch = this.#waiting.splice(0, MOST_BODIES);
      const [now, past] = [
        batch.filter((one) => one.generation === generation),
        batch.filter((one) => one.generation !== generation),
      ];
      for (const { reject } of past) reject(new Superseded(this.#means.name));
      if (now.length > 0) await this.#runBatch(now);
    }
    this.#isRunning = false;
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** One bad change fails no other: where the database refuses a batch, its halves are tried, and at last the one alone. */
  async #runBatch(batch: readonly Waiting<B>[]): Promise<void> {
    let outcomes: readonly BodyOutcome[];
    try {
      // Where a session ends nothing of its batch is stored, or it is known that all of it is.
      outcomes = await overSessions(() => this.#carriedOut(batch.map(({ body }) => body)));
    } catch (error) {
      if (batch.length > 1 && error instanceof DatabaseError && !isOfMachine(error)) {
        const half = batch.length >> 1;
        await this.#runBatch(batch.slice(0, half));
        await this.#runBatch(batch.slice(half));
        return;
      }
      const told = isOfMachine(error) ? new CommitFailed(this.#means.name, error) : error;
      outcomes = batch.map(() => ({ error: told }));
    }
    for (const [index, { resolve, reject }] of batch.entries()) {
      const outcome = outcomes[index] as BodyOutcome;
      if ('error' in outcome) reject(outcome.error);
      else resolve(outcome.value);
    }
  }

  async #carriedOut(bodies: readonly B[]): Promise<readonly BodyOutcome[]> {
    const { newState, run, rowTables, connection: free, purge, committed, names } = this.#means;
    const generation = this.#means.generation();
    const state = newState();
    state.bodies = bodies.length;
    guess(state, bodies, (body) => run(state, body));
    const connection = await free();
    const means: BatchMeans<B> = { connection, state, bodies, run: (body) => run(state, body), rowTables };
    try {
      const head = await this.#begin(connection, state, generation);
      const outcomes = await runBodies(means);
      if (state.touched.size === 0) {
        await connection.send([bareSql('ROLLBACK')]);
        return outcomes;
      }
      const statements = [...(await rest(means)), ...purge(state)];
      // Others hear of a change by a number that is higher than before: also where no row was written.
      state.revision += 1;
      await this.#commit(connection, [...statements, marksOf(state.touched, names, state.revision)], head.transaction);
      committed(state.touched, state.revision);
      return outcomes;
    } catch (error) {
      if (!connection.isLost) await connection.send([bareSql('ROLLBACK')]).catch(() => {});
      throw error;
    }
  }

  /** Takes the store for this batch, and fetches what its bodies are known to need. */
  async #begin(connection: Connection, state: State, generation: number): Promise<{ readonly transaction: string }> {
    const { names } = this.#means;
    const question = questionOf(state, takeWanted(state));
    const lock = `SELECT last, generation, pg_current_xact_id()::text FROM ${names.own('store')} FOR UPDATE`;
    const [, [row] = [], ...found] = await connection.send([bareSql('BEGIN'), bareSql(lock), ...question.sql]);
    question.learn(found);
    if (!row) throw new Error(`${this.#means.name} holds no store any more`);
    if (Number(row[1]) !== generation) throw new Superseded(this.#means.name);
    state.revision = Number(row[0]);
    return { transaction: String(row[2]) };
  }

  /** Brings a batch to disk. Where the answer is lost, the database is asked what became of it. */
  async #commit(connection: Connection, statements: readonly ReturnType<typeof bareSql>[], transaction: string): Promise<void> {
    try {
      await connection.send([...statements, bareSql('COMMIT')]);
    } catch (error) {
      if (!(error instanceof DatabaseError) || !error.isLost) throw error;
      if (!(await this.#isCommitted(transaction))) throw error;
    }
  }

  /** What became of a transaction. A database that restarts is waited for a while. @throws {CommitUnknown} */
  async #isCommitted(transaction: string): Promise<boolean> {
    const asked = { text: 'SELECT pg_xact_status($1::xid8)', values: [transaction], isOnce: true };
    for (let tries = 1; ; tries++) {
      try {
        const connection = await this.#means.connection();
        const [[row] = []] = await connection.send([asked]);
        if (row?.[0] !== 'in progress') return row?.[0] === 'committed';
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
