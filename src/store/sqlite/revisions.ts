import type { DatabaseSync } from 'node:sqlite';
import { type Statement, statement } from './statement.ts';

const RESERVED_AT_ONCE = 4096;

/**
 * The store's one counter, which gives each write its `rev` and each new row its `seq`. It is counted in memory below a
 * mark on disk, so that a commit seldom has to write it; what was reserved and not used before a restart is skipped.
 */
export class Revisions {
  #last: number;
  #reserved: number;
  readonly #save: Statement;

  constructor(database: DatabaseSync) {
    this.#reserved = statement<[number]>(database, 'SELECT reserved FROM ninefold_revision').get()![0];
    this.#last = this.#reserved;
    this.#save = statement(database, 'UPDATE ninefold_revision SET reserved = ?');
  }

  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Raises the mark above what was counted, inside the transaction that uses it. Returns what it will be once that is committed. */
  reserve(): number {
    if (this.#last <= this.#reserved) return this.#reserved;
    const mark = this.#last + RESERVED_AT_ONCE;
    this.#save.get(mark);
    return mark;
  }

  committed(mark: number): void {
    this.#reserved = mark;
  }
}
