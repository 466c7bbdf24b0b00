import type { DatabaseSync } from 'node:sqlite';
import { type Statement, statement } from './statement.ts';

const PURGED_PER_ADDED = 2;

/** Counters that end at a time. Each one that is added to makes room by removing two that have ended, at most. */
export class Counters {
  readonly #add: Statement<[count: number]>;
  readonly #purge: Statement;
  #latestMs = Number.NEGATIVE_INFINITY;
  #added = 0;

  constructor(database: DatabaseSync) {
    this.#add = statement(
      database,
      `INSERT INTO ninefold_counters (name, count, expires) VALUES (?1, ?2, ?4)
       ON CONFLICT DO UPDATE SET count = iif(expires <= ?3, 0, count) + ?2, expires = ?4 RETURNING count`,
    );
    this.#purge = statement(
      database,
      `DELETE FROM ninefold_counters WHERE name IN
       (SELECT name FROM ninefold_counters WHERE expires <= ? ORDER BY expires LIMIT CAST(? AS INTEGER))`,
    );
  }

  add(name: string, amount: number, nowMs: number, expiresMs: number): number {
    this.#added += 1;
    this.#latestMs = nowMs;
    // The statement returns the row that it made or changed.
    return this.#add.get(name, amount, nowMs, expiresMs)![0];
  }

  /** The store has no clock: what has ended is judged by the last time that a counter was added to. */
  purge(): void {
    if (this.#added === 0) return;
    const most = this.#added * PURGED_PER_ADDED;
    this.#added = 0;
    this.#purge.get(this.#latestMs, most);
  }
}
