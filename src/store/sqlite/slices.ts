import { DatabaseSync } from 'node:sqlite';
import { ReadTooLong } from '../failures.ts';
import type { FoundRow, Scalar } from '../store.ts';
import type { Binding, ConditionPart, OrderColumn } from './condition.ts';
import { IndexWalk, type WalkedPath } from './index-walk.ts';
import { errorNumber, FULL, type Statement, statement } from './statement.ts';
import type { LongReadOptions } from './walk.ts';
import { bound, type Slices, TableWalk, type Walk, type WalkWidth } from './walk.ts';

/** A question as what answers it in slices has to know it. */
export interface SlicedQuestion {
  readonly database: DatabaseSync;
  /** The table under its alias `t`. */
  readonly from: string;
  readonly where: string;
  readonly slots: readonly Binding[];
  readonly order: string;
  /** What rows are sorted by before their creation order. */
  readonly sorted: readonly OrderColumn[];
  /** The same as SQL whose values are read by `keysOf`. */
  readonly keys: readonly string[];
  readonly keysOf: (values: readonly Scalar[]) => readonly Scalar[];
  readonly newestFirst: boolean;
  /** The index that its rows are a part of, where there is one. */
  readonly path: WalkedPath | undefined;
  /** The rows strictly after the one whose values begin at this parameter. */
  readonly beyond: (params: readonly Scalar[], from: number) => readonly ConditionPart[];
  /** What is selected of each row that is found, and what that makes of it. */
  readonly columns: readonly string[];
  readonly found: (rows: readonly (readonly Scalar[])[]) => FoundRow[];
}

/** So many numbers that are sorted anew now and then; of more, all are sorted once. */
const sortedMost = 10_000;
/** How many rows are fetched at once. */
const fetchedMost = 500;

/** Answers one question by going through its table, or through a part of an index, a few rows at a time. */
export class SlicedRead {
  readonly #question: SlicedQuestion;
  readonly #params: readonly Scalar[];
  readonly #width: WalkWidth;

  constructor(question: SlicedQuestion, params: readonly Scalar[], { sliceRows = [256, 8192] }: LongReadOptions) {
    this.#question = question;
    this.#params = params;
    this.#width = sliceRows;
  }

  *count(): Slices<number> {
    const { database, from, where, slots } = this.#question;
    const walk = this.#walk(undefined);
    const conditions = [walk.among, where].filter(Boolean).join(' AND ');
    const counted = statement<[number]>(database, `SELECT count(*) FROM ${from} NOT INDEXED WHERE ${conditions}`);
    const values = bound(slots, this.#params);
    let count = 0;
    yield* walk.through((stretch) => {
      count += stretch.numbers?.length ?? counted.get(...stretch.values, ...values)![0];
      return true;
    });
    return count;
  }

  /** The creation numbers of all rows, in their order. */
  numbers(): Slices<number[]> {
    return this.#first(-1, 0, undefined);
  }

  /** The first rows that come after some, and after the row whose values begin at parameter `from`, where that is given. */
  *rows(most: number, skipped: number, from: number | undefined): Slices<FoundRow[]> {
    const numbers = yield* this.#first(most, skipped, from === undefined ? undefined : { params: this.#params, from });
    return yield* this.#fetch(numbers);
  }

  /** The numbers of the first rows after some after a place, in their order; of all of them where `most` is below 0. */
  #first(most: number, skipped: number, place: Place | undefined): Slices<number[]> {
    const walk = this.#walk(place);
    const wanted = most < 0 ? Number.POSITIVE_INFINITY : most;
    if (walk.isInOrder) return this.#firstInOrder(walk, wanted, skipped, place);
    if (wanted + skipped > sortedMost) return this.#sortedOnce(walk, wanted, skipped, place);
    return this.#sortedNowAndThen(walk, wanted, skipped, place);
  }

  *#firstInOrder(walk: Walk, wanted: number, skipped: number, place: Place | undefined): Slices<number[]> {
    const looked = this.#select('t.seq', walk.among, place);
    const found: number[] = [];
    let left = skipped;
    yield* walk.through(({ values, numbers }) => {
      const most = Math.min(Number.MAX_SAFE_INTEGER, wanted - found.length + left);
      const here = numbers ?? looked.all(values, most).map(([seq]) => Number(seq));
      for (const seq of here) {
        if (left > 0) left -= 1;
        else if (found.length < wanted) found.push(seq);
      }
      return found.length < wanted;
    });
    return found;
  }

  *#sortedNowAndThen(walk: Walk, wanted: number, skipped: number, place: Place | undefined): Slices<number[]> {
    const most = wanted + skipped;
    const looked = this.#select('t.seq', walk.among, place);
    const again = this.#select('t.seq', AMONG, undefined);
    const sorted = (numbers: readonly number[]) => again.all([JSON.stringify(numbers)], most).map(([seq]) => Number(seq));
    let found: number[] = [];
    yield* walk.through(({ values, numbers }) => {
      if (numbers) for (const seq of numbers) found.push(seq);
      else for (const [seq] of looked.all(values, most)) found.push(Number(seq));
      if (found.length > 4 * most + sortedMost) found = sorted(found);
      return true;
    });
    return sorted(found).slice(skipped);
  }

  *#sortedOnce(walk: Walk, wanted: number, skipped: number, place: Place | undefined): Slices<number[]> {
    const { keys, keysOf, sorted, newestFirst } = this.#question;
    const looked = this.#select([...keys, 't.seq'].join(', '), walk.among, place);
    const sorting = new SortedNumbers(sorted, newestFirst);
    try {
      yield* walk.through(({ values }) => {
        for (const row of looked.all(values, Number.MAX_SAFE_INTEGER)) sorting.add(keysOf(row), Number(row.at(-1)));
        return true;
      });
      return yield* sorting.numbers(wanted, skipped);
    } finally {
      sorting.close();
    }
  }

  *#fetch(numbers: readonly number[]): Slices<FoundRow[]> {
    const { columns, found } = this.#question;
    const fetched = this.#select(columns.join(', '), AMONG, undefined);
    const rows: FoundRow[] = [];
    for (let at = 0; at < numbers.length; at += fetchedMost) {
      if (at > 0) yield;
      for (const row of found(fetched.all([JSON.stringify(numbers.slice(at, at + fetchedMost))], fetchedMost))) rows.push(row);
    }
    return rows;
  }

  /** Along an index where the rows are a part of one, else through the whole table by creation number. */
  #walk(place: Place | undefined): Walk {
    const { database, from, keys, newestFirst, path } = this.#question;
    const start = place?.params.slice(place.from, place.from + keys.length + 1);
    const along = path && IndexWalk.along({ database, from }, path, this.#params, this.#width, start);
    if (along) return along;
    const isInOrder = keys.length === 0;
    const seq = isInOrder && start ? Number(start.at(-1)) : undefined;
    return new TableWalk({ database, from }, isInOrder, isInOrder && newestFirst, seq, this.#width);
  }

  #select(columns: string, among: string, place: Place | undefined): Select {
    const { database, from, where, slots, order, beyond } = this.#question;
    const parts = place ? beyond(place.params, place.from) : [];
    const conditions = [among, where, parts.length > 0 ? `(${parts.map(({ sql }) => `(${sql})`).join(' OR ')})` : ''];
    const prepared: Statement<readonly Scalar[]> = statement(
      database,
      `SELECT ${columns} FROM ${from} NOT INDEXED WHERE ${conditions.filter(Boolean).join(' AND ')} ORDER BY ${order} LIMIT CAST(? AS INTEGER)`,
    );
    const rest = [...bound(slots, this.#params), ...parts.flatMap(({ slots: own }) => (place ? bound(own, place.params) : []))];
    return { all: (values, most) => prepared.all(...values, ...rest, most) };
  }
}

/** The rows of a list of numbers, by each of them: no other index of the table is gone through for it. */
const AMONG = 't.seq IN (SELECT value FROM json_each(?))';

/** Where reading goes on: strictly after the row whose values begin at a parameter. */
interface Place {
  readonly params: readonly Scalar[];
  readonly from: number;
}

interface Select {
  all(among: readonly Scalar[], most: number): (readonly Scalar[])[];
}

/** How much memory the keys of one sorted list may take: those of 1,000,000 rows that are sorted by a short text take 43 MiB. */
const pagesMost = (128 * 2 ** 20) / 4096;
/** How many numbers are read in a slice. */
const readMost = 2048;

/** Sorts the numbers of rows by their keys, one after the other, in a database of its own in memory. */
class SortedNumbers {
  readonly #database = new DatabaseSync(':memory:');
  readonly #insert;
  readonly #order: string;

  constructor(order: readonly Pick<OrderColumn, 'descending'>[], newestFirst: boolean) {
    // Absent values come first ascending and last descending.
    const columns = order.flatMap(({ descending }, index) => [`a${index}`, `k${index}`].map((name) => ({ name, descending })));
    const sorted = [...columns, { name: 'seq', descending: newestFirst }];
    this.#order = sorted.map(({ name, descending }) => (descending ? `${name} DESC` : name)).join(', ');
    const names = sorted.map(({ name }) => name).join(', ');
    this.#database.exec(`PRAGMA max_page_count = ${pagesMost}; PRAGMA journal_mode = OFF;
      CREATE TABLE sorted (${names}, PRIMARY KEY (${this.#order})) WITHOUT ROWID; BEGIN`);
    this.#insert = this.#database.prepare(`INSERT INTO sorted (${names}) VALUES (${sorted.map(() => '?').join(', ')})`);
  }

  /** @throws {ReadTooLong} where the keys take too much memory. */
  add(keys: readonly Scalar[], seq: number): void {
    try {
      this.#insert.run(...keys.flatMap((key) => (key === null ? [0, 0] : [1, key])), seq);
    } catch (error) {
      throw (errorNumber(error) & 0xff) === FULL ? new ReadTooLong() : error;
    }
  }

  /** So many numbers after some, in their order. */
  *numbers(wanted: number, skipped: number): Slices<number[]> {
    const read = this.#database.prepare(`SELECT seq FROM sorted ORDER BY ${this.#order}`);
    read.setReturnArrays(true);
    const found: number[] = [];
    let at = 0;
    // The driver's types know rows as objects only; after setReturnArrays they are arrays of what is selected.
    for (const [seq] of read.iterate() as unknown as Iterable<readonly [number]>) {
      if (found.length >= wanted) break;
      if (at >= skipped) found.push(seq);
      at += 1;
      if (at % readMost === 0) yield;
    }
    return found;
  }

  close(): void {
    this.#database.close();
  }
}
