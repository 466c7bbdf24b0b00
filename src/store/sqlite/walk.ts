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
