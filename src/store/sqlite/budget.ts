import type { DatabaseSync } from 'node:sqlite';

/** How long reads are divided among the turns of the event loop. */
export interface LongReadOptions {
  /** How long questions may look at rows in one turn of the event loop before they are answered in slices. */
  readonly attemptMs?: number;
  /** How many rows they look at between two looks at the time. */
  readonly everyRows?: number;
  /** How long slices take together in one turn. */
  readonly sliceMs?: number;
  /** How many rows a slice has at first, and at most. */
  readonly sliceRows?: readonly [first: number, most: number];
  /** How long one read may take, where nobody ends it before. */
  readonly mostMs?: number;
}

/** Is called for each row that a question looks at, where it stands first in what the question asks of rows. */
export const STEP = 'ninefold_step()';

/** Ends a question that has no time left in this turn. */
export class OutOfTurn extends Error {}

/** What is left of one turn however much was spent in it: a question that looks at few rows is not put off. */
const leastMs = 0.25;

/** What questions of all connections of a store have spent in this turn. */
export class TurnTime {
  #spentMs = 0;

  get spentMs(): number {
    return this.#spentMs;
  }

  spend(ms: number): void {
    if (ms < leastMs) return;
    if (this.#spentMs === 0) setImmediate(() => (this.#spentMs = 0));
    this.#spentMs += ms;
  }
}

/** The time that questions of one connection have in a turn of the event loop to look at rows. */
export class TurnBudget {
  readonly #attemptMs: number;
  readonly #everyRows: number;
  readonly #time: TurnTime;
  #untilMs = Number.POSITIVE_INFINITY;
  #rows = 0;

  constructor(database: DatabaseSync, time: TurnTime, { attemptMs = 5, everyRows = 128 }: LongReadOptions) {
    this.#time = time;
    this.#attemptMs = attemptMs;
    this.#everyRows = everyRows;
    database.function('ninefold_step', () => this.#step());
  }

  /** Asks within the time that is left. @throws {OutOfTurn} where it does not suffice. */
  spend<T>(ask: () => T): T {
    const beganMs = performance.now();
    const leftMs = this.#attemptMs - this.#time.spentMs;
    this.#untilMs = this.#attemptMs === 0 ? 0 : beganMs + Math.max(leastMs, leftMs);
    this.#rows = 0;
    try {
      return ask();
    } finally {
      this.#untilMs = Number.POSITIVE_INFINITY;
      this.#time.spend(performance.now() - beganMs);
    }
  }

  #step(): number {
    this.#rows += 1;
    if (this.#rows % this.#everyRows === 0 && performance.now() > this.#untilMs) throw new OutOfTurn();
    return 1;
  }
}
