import type { DatabaseSync } from 'node:sqlite';
import type { StoredRecord } from '../store.ts';
import { type Statement, statement } from './statement.ts';

const PURGED_PER_KEPT = 2;

/** Kept answers under their keys. Each one that is added makes room by removing two that have expired, at most. */
export class Records {
  readonly #find: Statement<[fingerprint: string, body: string, expires: number]>;
  readonly #keep: Statement;
  readonly #purge: Statement;
  #latestMs = Number.NEGATIVE_INFINITY;
  #kept = 0;

  constructor(database: DatabaseSync) {
    this.#find = statement(database, 'SELECT fingerprint, body, expires FROM ninefold_records WHERE key = ?');
    this.#keep = statement(
      database,
      'INSERT OR REPLACE INTO ninefold_records (key, fingerprint, body, expires) VALUES (?, ?, ?, ?)',
    );
    this.#purge = statement(
      database,
      `DELETE FROM ninefold_records WHERE rowid IN
       (SELECT rowid FROM ninefold_records WHERE expires <= ? ORDER BY expires LIMIT CAST(? AS INTEGER))`,
    );
  }

  find(key: string, nowMs: number): StoredRecord | undefined {
    this.#latestMs = nowMs;
    const found = this.#find.get(key);
    if (!found || found[2] <= nowMs) return undefined;
    return { fingerprint: found[0], body: found[1], expiresMs: found[2] };
  }

  keep(key: string, record: StoredRecord): void {
    this.#kept += 1;
    this.#keep.get(key, record.fingerprint, record.body, record.expiresMs);
  }

  /** The store has no clock: what has expired is judged by the last time that a record was asked for. */
  purge(): void {
    if (this.#kept === 0) return;
    const most = this.#kept * PURGED_PER_KEPT;
    this.#kept = 0;
    this.#purge.get(this.#latestMs, most);
  }
}
