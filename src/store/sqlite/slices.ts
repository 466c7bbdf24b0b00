import type { DatabaseSync } from 'node:sqlite';
import type { FoundRow, Scalar } from '../store.ts';
import type { LongReadOptions } from './budget.ts';
import type { Binding, ConditionPart } from './condition.ts';
import { type Statement, statement } from './statement.ts';

/** A question as what answers it in slices has to know it. */
export interface SlicedQuestion {
  readonly database: DatabaseSync;
  /** The table under its alias `t`. */
  readonly from: string;
  readonly where: string;
  readonly slots: readonly Binding[];
  readonly order: string;
  /** What rows are sorted by before their creation order, as SQL whose values are read by `keysOf`. */
  readonly keys: readonly string[];
  readonly keysOf: (values: readonly Scalar[]) => readonly Scalar[];
  readonly newestFirst: boolean;
  /** The rows strictly after the one whose values begin at this parameter. */
  readonly beyond: (params: readonly Scalar[], from: number) => readonly ConditionPart[];
  /** What is selected of each row that is found, and what that makes of it. */
  readonly columns: readonly string[];
  readonly found: (rows: readonly (readonly Scalar[])[]) => FoundRow[];
}

/** Work in slices: each `yield` ends one. */
export type Slices<T> = Generator<undefined, T>;

/** Rows that are passed over are passed over so many at a time: only their numbers are kept. */
const passedMost = 10_000;
/** How many rows are fetched at once. */
const fetchedMost = 500;

/** Answers one question by going through its table from one end to the other, a few rows at a time. */
export class SlicedRead {
  readonly #question: SlicedQuestion;
  readonly #params: readonly Scalar[];
  readonly #rowsFirst: number;
  readonly #rowsMost: number;

  constructor(question: SlicedQuestion, params: readonly Scalar[], { sliceRows = [256, 8192] }: LongReadOptions) {
    this.#question = question;
    this.#params = params;
    [this.#rowsFirst, this.#rowsMost] = sliceRows;
  }

  *count(): Slices<number> {
    const { database, from, where, slots } = this.#question;
    const counted = statement<[number]>(
      database,
      `SELECT count(*) FROM ${from} NOT INDEXED WHERE t.seq >= ? AND t.seq <= ?${where && ` AND ${where}`}`,
    );
    const values = bound(slots, this.#params);
    let count = 0;
    yield* this.#through(undefined, (low, high) => {
      count += counted.get(low, high, ...values)![0];
      return true;
    });
    return count;
  }

  /** The first rows that come after some, and after the row whose values begin at parameter `from`, where that is given. */
  *rows(most: number, skipped: number, from: number | undefined): Slices<FoundRow[]> {
    let place = from === undefined ? undefined : { params: this.#params, from };
    for (let left = skipped; left > 0; left -= passedMost) {
      const passed = Math.min(left, passedMost);
      const numbers = yield* this.#first(passed, place);
      if (numbers.length < passed) return [];
      place = this.#placeOf(numbers.at(-1)!);
    }
    const numbers = yield* this.#first(most, place);
    return yield* this.#fetch(numbers);
  }

  /** The numbers of the first rows after a place, in their order. */
  *#first(most: number, place: Place | undefined): Slices<number[]> {
    const { keys } = this.#question;
    const wanted = most < 0 ? Number.MAX_SAFE_INTEGER : most;
    const looked = this.#select('t.seq', 't.seq >= ? AND t.seq <= ?', place, 'NOT INDEXED');
    let found: number[] = [];
    const isInOrder = keys.length === 0;
    const start = isInOrder && place ? Number(place.params[place.from]) : undefined;
    yield* this.#through({ isBackwards: isInOrder && this.#question.newestFirst, start }, (low, high) => {
      const left = isInOrder ? wanted - found.length : wanted;
      for (const [seq] of looked.all([low, high], left)) found.push(Number(seq));
      if (!isInOrder && found.length > 4 * wanted + passedMost) found = this.#sorted(found, wanted);
      return !isInOrder || found.length < wanted;
    });
    return isInOrder ? found : this.#sorted(found, wanted);
  }

  #sorted(numbers: readonly number[], most: number): number[] {
    const sorted = this.#select('t.seq', 't.seq IN (SELECT value FROM json_each(?))', undefined, '');
    return sorted.all([JSON.stringify(numbers)], most).map(([seq]) => Number(seq));
  }

  *#fetch(numbers: readonly number[]): Slices<FoundRow[]> {
    const { columns, found } = this.#question;
    const fetched = this.#select(columns.join(', '), 't.seq IN (SELECT value FROM json_each(?))', undefined, '');
    const rows: FoundRow[] = [];
    for (let at = 0; at < numbers.length; at += fetchedMost) {
      if (at > 0) yield;
      for (const row of found(fetched.all([JSON.stringify(numbers.slice(at, at + fetchedMost))], fetchedMost))) rows.push(row);
    }
    return rows;
  }

  #placeOf(seq: number): Place | undefined {
    const { database, from, keys, keysOf } = this.#question;
    const values = statement<readonly Scalar[]>(
      database,
      `SELECT ${[...keys, 't.seq'].join(', ')} FROM ${from} WHERE t.seq = ?`,
    ).get(seq)!;
    const params = [...this.#params, ...keysOf(values), seq];
    return { params, from: this.#params.length };
  }

  #select(columns: string, among: string, place: Place | undefined, way: string): Select {
    const { database, from, where, slots, order, beyond } = this.#question;
    const parts = place ? beyond(place.params, place.from) : [];
    const conditions = [among, where, parts.length > 0 ? `(${parts.map(({ sql }) => `(${sql})`).join(' OR ')})` : ''];
    const prepared: Statement<readonly Scalar[]> = statement(
      database,
      `SELECT ${columns} FROM ${from} ${way} WHERE ${conditions.filter(Boolean).join(' AND ')} ORDER BY ${order} LIMIT CAST(? AS INTEGER)`,
    );
    const rest = [...bound(slots, this.#params), ...parts.flatMap(({ slots: own }) => (place ? bound(own, place.params) : []))];
    return { all: (amongValues, most) => prepared.all(...amongValues, ...rest, most) };
  }

  /** Goes through the numbers of the rows, as many at a time as take about a millisecond, for as long as `look` wants more. */
  *#through(
    way: { readonly isBackwards: boolean; readonly start: number | undefined } | undefined,
    look: (low: number, high: number) => boolean,
  ): Slices<void> {
    const { database, from } = this.#question;
    const { isBackwards = false, start } = way ?? {};
    const next = statement<[number | null]>(
      database,
      isBackwards ? `SELECT max(t.seq) FROM ${from} WHERE t.seq <= ?` : `SELECT min(t.seq) FROM ${from} WHERE t.seq >= ?`,
    );
    let at = start ?? (isBackwards ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER);
    for (let width = this.#rowsFirst; ; ) {
      const first = next.get(at)?.[0] ?? undefined;
      if (first === undefined) return;
      const last = isBackwards ? first - width + 1 : first + width - 1;
      const beganMs = performance.now();
      if (!look(Math.min(first, last), Math.max(first, last))) return;
      const tookMs = performance.now() - beganMs;
      width = tookMs > sliceMs ? Math.max(1, width >> 1) : Math.min(this.#rowsMost, width * 2);
      at = isBackwards ? last - 1 : last + 1;
      yield;
    }
  }
}

/** About how long one slice takes. */
const sliceMs = 1;

/** Where reading goes on: strictly after the row whose values begin at a parameter. */
interface Place {
  readonly params: readonly Scalar[];
  readonly from: number;
}

interface Select {
  all(among: readonly Scalar[], most: number): (readonly Scalar[])[];
}

/** What is bound to the `?` of a condition. */
export function bound(slots: readonly Binding[], params: readonly Scalar[]): Scalar[] {
  const values: Scalar[] = [];
  for (const slot of slots) values.push(typeof slot === 'number' ? params[slot]! : slot.value);
  return values;
}
