import { PGlite, types } from '@electric-sql/pglite';
import { type Connection, DatabaseError, type FoundValues, type Server, type Sql } from '../../src/store/postgres/connection.ts';
import { openOn } from '../../src/store/postgres/postgres.ts';
import { readInteger } from '../../src/store/postgres/server.ts';
import type { Store } from '../../src/store/store.ts';

/** PostgreSQL in this process: its dialect, and one session. What is sent in a transaction waits until the one before has ended. */
let database: Promise<PGlite> | undefined;

/** @param sent Told of what is sent, and together with what. */
export async function openTestPglite(schema: string, sent: (statements: readonly Sql[]) => void = () => {}): Promise<Store> {
  database ??= PGlite.create();
  return openOn(serverOf(await database, sent), { schema, isPlain: false });
}

const parsers = { [types.INT8]: readInteger, [types.INT4]: Number, [types.FLOAT8]: Number };
/** Who has the session; each waits for the one before. */
let turn: Promise<void> = Promise.resolve();

function takeTurn(): Promise<() => void> {
  const before = turn;
  let end: () => void = () => {};
  turn = new Promise((resolve) => {
    end = resolve;
  });
  return before.then(() => end);
}

function serverOf(database: PGlite, told: (statements: readonly Sql[]) => void): Server {
  const listeners = new Map<string, Set<() => void>>();
  return {
    name: 'PGlite',
    async connect() {
      return new PgliteConnection(database, told);
    },
    async listen(channel, heard) {
      const all = listeners.get(channel) ?? new Set();
      listeners.set(channel, all.add(heard));
      const stop = await database.listen(channel, heard);
      return () => stop();
    },
    async close() {},
  };
}

class PgliteConnection implements Connection {
  readonly #database: PGlite;
  readonly #told: (statements: readonly Sql[]) => void;
  /** Ends this connection's turn; nothing while it has none. */
  #end: (() => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();
  isLost = false;

  constructor(database: PGlite, told: (statements: readonly Sql[]) => void) {
    this.#database = database;
    this.#told = told;
  }

  send(statements: readonly Sql[]): Promise<readonly (readonly FoundValues[])[]> {
    this.#told(statements);
    const sent = this.#last.then(() => this.#send(statements));
    this.#last = sent.catch(() => {});
    return sent;
  }

  async close(): Promise<void> {
    await this.#last;
    if (this.#end) await this.send([{ text: 'ROLLBACK', values: [] }]);
  }

  async #send(statements: readonly Sql[]): Promise<(readonly FoundValues[])[]> {
    this.#end ??= await takeTurn();
    let isInside = false;
    try {
      const found: (readonly FoundValues[])[] = [];
      for (const { text, values } of statements) {
        const answer = await this.#database.query<FoundValues>(text, [...values], { rowMode: 'array', parsers });
        found.push(answer.rows);
      }
      return found;
    } catch (error) {
      const state = error instanceof Error && 'code' in error ? String(error.code) : '';
      throw new DatabaseError(error instanceof Error ? error.message : String(error), state, false, error);
    } finally {
      const last = statements.at(-1)?.text ?? '';
      const first = statements[0]?.text ?? '';
      isInside = (this.#isOpen || first.startsWith('BEGIN')) && !/^(?:COMMIT|ROLLBACK$)/.test(last);
      this.#isOpen = isInside;
      if (!isInside) {
        this.#end?.();
        this.#end = undefined;
      }
    }
  }

  #isOpen = false;
}
