import type { DatabaseSync } from 'node:sqlite';
import type { Snapshot } from './snapshot.ts';
import { type Statement, statement } from './statement.ts';

/**
 * The transaction of a batch and the savepoint of the body that runs in it, both opened by the first write. A first write that
 * can be taken back by itself does without: most bodies write no more than that.
 */
export class Savepoints {
  readonly #database: DatabaseSync;
  readonly #begin: Statement;
  readonly #snapshot: Snapshot;
  readonly #commit: Statement;
  readonly #save: Statement;
  readonly #release: Statement;
  readonly #rollBack: Statement;
  #begun = false;
  #saved = false;
  /** Takes back what the body wrote before its savepoint. */
  #takeBack: (() => void) | undefined;
  #failure: { readonly cause: unknown } | undefined;

  constructor(database: DatabaseSync, snapshot: Snapshot) {
    this.#database = database;
    this.#snapshot = snapshot;
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

  /** Called before each write; `takeBack` undoes that write, and nothing where it was not carried out. */
  open(takeBack?: () => void): void {
    if (this.#failure) throw this.#failure.cause;
    if (this.#saved) return;
    if (!this.#begun) {
      this.#snapshot.end();
      this.#begin.get();
      this.#begun = true;
    }
    if (takeBack && !this.#takeBack) {
      this.#takeBack = takeBack;
      return;
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
    this.#takeBack = undefined;
    if (!this.#saved) return;
    this.#saved = false;
    this.#release.get();
  }

  /** Ends a body that threw, leaving nothing of it. Where SQLite has given up the whole transaction, throws why. */
  undo(cause: unknown): void {
    const why = this.#failure?.cause ?? cause;
    const [saved, takeBack] = [this.#saved, this.#takeBack];
    this.#failure = undefined;
    this.#saved = false;
    this.#takeBack = undefined;
    if (!saved && !takeBack) return;
    if (!this.#database.isTransaction) throw why;
    if (saved) {
      this.#rollBack.get();
      this.#release.get();
    }
    takeBack?.();
  }

  commit(): void {
    if (this.#begun) this.#commit.get();
    this.#begun = false;
  }

  /** Gives up the whole batch, also where SQLite has done so itself. */
  rollBack(): void {
    this.#snapshot.end();
    this.#begun = false;
    this.#saved = false;
    this.#takeBack = undefined;
    this.#failure = undefined;
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }
}
