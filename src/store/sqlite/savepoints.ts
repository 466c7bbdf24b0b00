import type { DatabaseSync } from 'node:sqlite';
import { type Statement, statement } from './statement.ts';

/** The transaction of a batch and the savepoint of the body that runs in it, both opened by the first write. */
export class Savepoints {
  readonly #database: DatabaseSync;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #save: Statement;
  readonly #release: Statement;
  readonly #rollBack: Statement;
  #begun = false;
  #saved = false;
  #failure: { readonly cause: unknown } | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = statement(database, 'BEGIN IMMEDIATE');
    this.#commit = statement(database, 'COMMIT');
    this.#save = statement(database, 'SAVEPOINT body');
    this.#release = statement(database, 'RELEASE body');
    this.#rollBack = statement(database, 'ROLLBACK TO body');
  }

  /** Whether anything was written since the last commit. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Called before each write. */
  open(): void {
    if (this.#saved) {
      if (this.#failure) throw this.#failure.cause;
      return;
    }
    if (!this.#begun) {
      this.#begin.get();
      this.#begun = true;
    }
    this.#save.get();
    this.#saved = true;
  }

  /** A write went wrong in a way that its body cannot mend: the body fails, also where it caught the error. */
  fail(cause: unknown): void {
    this.#failure ??= { cause };
  }

  /** Ends a body that returned. */
  keep(): void {
    if (this.#failure) throw this.#failure.cause;
    if (!this.#saved) return;
    this.#saved = false;
    this.#release.get();
  }

  /** Ends a body that threw, leaving nothing of it. Where SQLite has given up the whole transaction, throws why. */
  undo(cause: unknown): void {
    const why = this.#failure?.cause ?? cause;
    this.#failure = undefined;
    if (!this.#saved) return;
    this.#saved = false;
    if (!this.#database.isTransaction) throw why;
    this.#rollBack.get();
    this.#release.get();
  }

  commit(): void {
    if (this.#begun) this.#commit.get();
    this.#begun = false;
  }

  /** Gives up the whole batch, also where SQLite has done so itself. */
  rollBack(): void {
    this.#begun = false;
    this.#saved = false;
    this.#failure = undefined;
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }
}
