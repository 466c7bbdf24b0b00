import { DatabaseSync } from 'node:sqlite';
import { ReadTooLong } from '../failures.ts';
import type { Scalar } from '../store.ts';
import type { OrderColumn } from './condition.ts';
import { errorNumber, FULL } from './statement.ts';
import type { Slices } from './walk.ts';

/** How much memory the keys of one sorted list may take: those of 1,000,000 rows that are sorted by a short text take 43 MiB. */
const pagesMost = (128 * 2 ** 20) / 4096;
/** How many numbers are read in a slice. */
const readMost = 2048;

/** Sorts the numbers of rows by their keys, one after the other, in a database of its own in memory. */
export class SortedNumbers {
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
