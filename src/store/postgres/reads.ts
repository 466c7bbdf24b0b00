import { ReadFailed } from '../failures.ts';
import { type BodyOutcome, questionOf, takeWanted } from './batch.ts';
import { bareSql, type Connection, isOfMachine, overSessions } from './connection.ts';
import type { State } from './state.ts';

/** What a queue of reads needs of its store. */
export interface ReadsMeans<B> {
  readonly name: string;
  readonly newState: () => State;
  readonly run: (state: State, body: B) => BodyOutcome;
  readonly connect: () => Promise<Connection>;
}

interface Waiting<B> {
  readonly body: B;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_BODIES = 512;
const LANES = 2;
const ROUNDS_MOST = 10_000;

/** Reads that wait while the last ones are under way are asked together. All that one of them is told is of one moment. */
export class Reads<B> {
  readonly #means: ReadsMeans<B>;
  #waiting: Waiting<B>[] = [];
  readonly #lanes: { connection: Connection | undefined; isBusy: boolean }[];
  #isScheduled = false;
  #drained: (() => void)[] = [];

  constructor(means: ReadsMeans<B>) {
    this.#means = means;
    this.#lanes = Array.from({ length: LANES }, () => ({ connection: undefined, isBusy: false }));
  }

  add(body: B): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, resolve, reject });
      this.#schedule();
    });
  }

  drain(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isIdle) resolve();
      else this.#drained.push(resolve);
    });
  }

  get #isIdle(): boolean {
    return this.#waiting.length === 0 && !this.#isScheduled && this.#lanes.every(({ isBusy }) => !isBusy);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const lane = this.#lanes.find(({ isBusy }) => !isBusy);
      if (lane && this.#waiting.length > 0) void this.#runLane(lane);
      this.#tellIdle();
    });
  }

  async #runLane(lane: { connection: Connection | undefined; isBusy: boolean }): Promise<void> {
    lane.isBusy = true;
    while (this.#waiting.length > 0) {
      let left: readonly Waiting<B>[] = this.#waiting.splice(0, MOST_BODIES);
      try {
        await overSessions(() =>
          this.#carryOut(lane, left, (unsettled) => {
            left = unsettled;
          }),
        );
      } catch (error) {
        const told = isOfMachine(error) ? new ReadFailed(this.#means.name, error) : error;
        for (const { reject } of left) reject(told);
      }
    }
    lane.isBusy = false;
    this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.#isIdle) for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** @param settled Told which bodies have not come to their end yet, whenever some have. */
  async #carryOut(
    lane: { connection: Connection | undefined },
    batch: readonly Waiting<B>[],
    settled: (left: readonly Waiting<B>[]) => void,
  ): Promise<void> {
    let state = this.#means.newState();
    let left = this.#settled(state, batch);
    settled(left);
    if (left.length === 0) return;
    lane.connection = await this.#connected(lane.connection);
    const question = questionOf(state, state.wanted);
    if (question.sql.length === 1) {
      takeWanted(state);
      // One statement is of one moment; who needs more begins anew.
      question.learn(await lane.connection.send(question.sql));
      left = this.#settled(state, left);
      state = this.#means.newState();
      left = this.#settled(state, left);
      settled(left);
    }
    await this.#carryOutWhole(lane.connection, state, left, settled);
  }

  /** Everything of one moment: a transaction that sees nothing that is committed after its first question. */
  async #carryOutWhole(
    connection: Connection,
    state: State,
    batch: readonly Waiting<B>[],
    settled: (left: readonly Waiting<B>[]) => void,
  ): Promise<void> {
    let left = batch;
    if (left.length === 0) return;
    try {
      for (let round = 0; left.length > 0; round++) {
        if (round === ROUNDS_MOST) throw new Error('a body asks the store for something else each time it is run');
        const head = round === 0 ? [bareSql('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')] : [];
        const question = questionOf(state, takeWanted(state));
        const found = await connection.send([...head, ...question.sql]);
        question.learn(found.slice(head.length));
        left = this.#settled(state, left);
        settled(left);
      }
    } catch (error) {
      if (!connection.isLost) await connection.send([bareSql('ROLLBACK')]).catch(() => {});
      throw error;
    }
    // Nobody waits for its end; one that fails shows with the next question.
    connection.send([bareSql('COMMIT')]).catch(() => {});
  }

  /** Settles the bodies that came to their end, and gives those that asked for more. */
  #settled(state: State, batch: readonly Waiting<B>[]): Waiting<B>[] {
    return batch.filter(({ body, resolve, reject }) => {
      state.begin(false);
      const outcome = this.#means.run(state, body);
      if (state.isStopped) return true;
      if ('error' in outcome) reject(outcome.error);
      else resolve(outcome.value);
      return false;
    });
  }

  async #connected(connection: Connection | undefined): Promise<Connection> {
    return connection && !connection.isLost ? connection : this.#means.connect();
  }
}
