import type { DatabaseSync } from 'node:sqlite';
import type { Timer } from '../store.ts';
import { type Statement, statement } from './statement.ts';

type TimerValues = readonly [resource: string, id: string, name: string, dueMs: number, token: string];

/** Timers that are due at a time, and the tokens that they last fired for. */
export class Timers {
  readonly #set: Statement;
  readonly #fired: Statement;
  readonly #clear: Statement;
  readonly #clearAll: Statement;
  readonly #forget: Statement;
  readonly #due: Statement<TimerValues>;
  readonly #next: Statement<[number]>;

  constructor(database: DatabaseSync) {
    this.#set = statement(
      database,
      `INSERT INTO ninefold_timers (resource, id, name, due, token) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET due = iif(fired IS excluded.token, NULL, excluded.due), token = excluded.token`,
    );
    this.#fired = statement(
      database,
      `INSERT INTO ninefold_timers (resource, id, name, fired) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET due = iif(token IS excluded.fired, NULL, due), fired = excluded.fired`,
    );
    this.#clear = statement(database, 'UPDATE ninefold_timers SET due = NULL WHERE resource = ? AND id = ? AND name = ?');
    this.#clearAll = statement(database, 'UPDATE ninefold_timers SET due = NULL WHERE resource = ? AND id = ?');
    this.#forget = statement(database, 'DELETE FROM ninefold_timers WHERE resource = ? AND id = ?');
    this.#due = statement(
      database,
      `SELECT resource, id, name, due, token FROM ninefold_timers
       WHERE due <= ? ORDER BY due, resource, id, name LIMIT CAST(? AS INTEGER)`,
    );
    this.#next = statement(database, 'SELECT due FROM ninefold_timers WHERE due IS NOT NULL ORDER BY due LIMIT 1');
  }

  set(timer: Timer): void {
    this.#set.get(timer.resource, timer.id, timer.name, timer.dueMs, timer.token);
  }

  fired(timer: Timer): void {
    this.#fired.get(timer.resource, timer.id, timer.name, timer.token);
  }

  clear(resource: string, id: string, name: string | undefined): void {
    if (name === undefined) this.#clearAll.get(resource, id);
    else this.#clear.get(resource, id, name);
  }

  forget(resource: string, id: string): void {
    this.#forget.get(resource, id);
  }

  due(nowMs: number, most: number): Timer[] {
    return this.#due.all(nowMs, most).map(([resource, id, name, dueMs, token]) => ({ resource, id, name, dueMs, token }));
  }

  next(): number | undefined {
    return this.#next.get()?.[0];
  }
}
