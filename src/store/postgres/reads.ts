import { ReadFailed, Superseded } from '../failures.ts';
import { type BodyOutcome, questionOf, takeWanted } from './batch.ts';
import { bareSql, type Connection, type FoundValues, isOfMachine, overSessions, type Sql } from './connection.ts';
import type { State } from './state.ts';

/** What a queue of reads needs of its store. */
export interface ReadsMeans<B> {
  readonly name: string;
  readonly newState: () => State;
  readonly run: (state: State, body: B) => BodyOutcome;
  readonly connect: () => Promise<Connection>;
  /** The generation of tables that this process works with; nothing before it knows any. */
  readonly generation: () => number | undefined;
  /** Finds out which one there is. */
  readonly asksGeneration: Sql;
}

interface Waiting<B> {
  readonly body: B;
  /** The tables that it was made for. */
  readonly generation: number | undefined;
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
      this.#waiting.push({ body, generation: this.#means.generation(), resolve, reject });
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
      const generation = this.#means.generation();
      const batch = this.#waiting.splice(0, MOST_BODIES);
      for (const one of batch) if (one.generation !== generation) one.reject(new Superseded(this.#means.name));
      let left: readonly Waiting<B>[] = batch.filter((one) => one.generation === generation);
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
    const generation = this.#means.generation();
    let state = this.#means.newState();
    let left = this.#settled(state, batch);
    settled(left);
    if (left.length === 0) return;
    lane.connection = await this.#connected(lane.connection);
    const question = questionOf(state, state.wanted);
    if (question.sql.length === 1) {
      takeWanted(state);
      // One statement is of one moment; who needs more begins anew.
      // The tables were still the same after it.
      const found = await lane.connection.send([...question.sql, ...this.#generationOf(generation)]);
      this.#checkGeneration(generation, found.slice(question.sql.length));
      question.learn(found);
      left = this.#settled(state, left);
      state = this.#means.newState();
      left = this.#settled(state, left);
      settled(left);
    }
    await this.#carryOutWhole(lane.connection, state, left, settled, generation);
  }

  /** Everything of one moment: a transaction that sees nothing that is committed after its first question. */
  async #carryOutWhole(
    connection: Connection,
    state: State,
    batch: readonly Waiting<B>[],
    settled: (left: readonly Waiting<B>[]) => void,
    generation: number | undefined,
  ): Promise<void> {
    let left = batch;
    if (left.length === 0) return;
    try {
      for (let round = 0; left.length > 0; round++) {
        if (round === ROUNDS_MOST) throw new Error('a body asks the store for something else each time it is run');
        const head = round === 0 ? [bareSql('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')] : [];
        const question = questionOf(state, takeWanted(state));
        const tables = round === 0 ? this.#generationOf(generation) : [];
        const found = await connection.send([...head, ...question.sql, ...tables]);
        if (round === 0) this.#checkGeneration(generation, found.slice(head.length + question.sql.length));
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

  #generationOf(generation: number | undefined): readonly Sql[] {
    return generation === undefined ? [] : [this.#means.asksGeneration];
  }

  /** @throws {Superseded} where the tables are those of another document by now. */
  #checkGeneration(generation: number | undefined, [rows]: readonly (readonly FoundValues[])[]): void {
    const row = rows?.[0];
    if (generation !== undefined && Number(row?.[0]) !== generation) throw new Superseded(this.#means.name);
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
