import type { DatabaseSync } from 'node:sqlite';
import { type Statement, statement } from './statement.ts';

/**
 * The read transaction that stays open from one change to the next. Nobody else writes to the file, so what it shows is what is committed;
 * and SQLite takes the lock of a reader once instead of for each statement.
 */
export class Snapshot {
  readonly #database: DatabaseSync;
  readonly #begin: Statement;
  readonly #end: Statement;
  #begun = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = statement(database, 'BEGIN');
    this.#end = statement(database, 'COMMIT');
  }

  begin(): void {
    if (this.#begun) return;
    this.#begin.get();
    this.#begun = true;
  }

  /** Called before whatever begins a transaction of its own, and where a read failed: SQLite may have given up the transaction then. */
  end(): void {
    if (!this.#begun) return;
    this.#begun = false;
    if (!this.#database.isTransaction) return;
    try {
      this.#end.get();
    } catch {
      // Nothing was written, so nothing is lost: of a damaged file whoever reads or writes next is told.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    }
  }
}
