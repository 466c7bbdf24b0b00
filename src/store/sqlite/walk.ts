import type { DatabaseSync } from 'node:sqlite';
import type { Scalar } from '../store.ts';
import type { Binding } from './condition.ts';
import { statement } from './statement.ts';

/** Work in slices: each `yield` ends one. */
export type Slices<T> = Generator<undefined, T>;

/** How many rows a slice has at first, and at most. */
export type WalkWidth = readonly [first: number, most: number];

/** A few rows of a walk: the values of its `among`, and their numbers where it is known that each of them is wanted. */
export interface Stretch {
  readonly values: readonly Scalar[];
  readonly numbers?: readonly number[] | undefined;
}

/** A way through rows, a few at a time. */
export interface Walk {
  /** The condition that holds for the rows of a stretch, whose `?` are its values. */
  readonly among: string;
  /** Whether stretches come, and have their numbers, in the order that was asked for. */
  readonly isInOrder: boolean;
  /** Goes on, as many rows at a time as take about a millisecond, for as long as `look` wants more. */
  through(look: (stretch: Stretch) => boolean): Slices<void>;
}

/** The table that a walk goes through, under its alias `t`. */
export interface WalkedTable {
  readonly database: DatabaseSync;
  readonly from: string;
}

/** Through a whole table by creation number, from one end or from a number on. */
export class TableWalk implements Walk {
  readonly among = 't.seq >= ? AND t.seq <= ?';
  readonly isInOrder: boolean;
  readonly #table: WalkedTable;
  readonly #isBackwards: boolean;
  readonly #start: number | undefined;
  readonly #width: WalkWidth;

  constructor(table: WalkedTable, isInOrder: boolean, isBackwards: boolean, start: number | undefined, width: WalkWidth) {
    this.#table = table;
    this.isInOrder = isInOrder;
    this.#isBackwards = isBackwards;
    this.#start = start;
    this.#width = width;
  }

  *through(look: (stretch: Stretch) => boolean): Slices<void> {
    const { database, from } = this.#table;
    const isBackwards = this.#isBackwards;
    const next = statement<[number | null]>(
      database,
      isBackwards ? `SELECT max(t.seq) FROM ${from} WHERE t.seq <= ?` : `SELECT min(t.seq) FROM ${from} WHERE t.seq >= ?`,
    );
    const width = new Width(this.#width);
    let at = this.#start ?? (isBackwards ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER);
    for (;;) {
      const first = next.get(at)?.[0] ?? undefined;
      if (first === undefined) return;
      const last = isBackwards ? first - width.rows + 1 : first + width.rows - 1;
      const values = [Math.min(first, last), Math.max(first, last)];
      if (!width.measured(() => look({ values }))) return;
      at = isBackwards ? last - 1 : last + 1;
      yield;
    }
  }
}

/** About how long one slice takes. */
const sliceMs = 1;

/** How many rows make a slice, by how long the last one took. */
export class Width {
  rows: number;
  readonly #most: number;

  constructor([first, most]: WalkWidth) {
    this.rows = first;
    this.#most = most;
  }

  measured<T>(look: () => T): T {
    const beganMs = performance.now();
    const looked = look();
    const tookMs = performance.now() - beganMs;
    this.rows = tookMs > sliceMs ? Math.max(1, this.rows >> 1) : Math.min(this.#most, this.rows * 2);
    return looked;
  }
}

/** What is bound to the `?` of a condition. */
export function bound(slots: readonly Binding[], params: readonly Scalar[]): Scalar[] {
  const values: Scalar[] = [];
  for (const slot of slots) values.push(typeof slot === 'number' ? params[slot]! : slot.value);
  return values;
}

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
