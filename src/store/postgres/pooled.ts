import { bareSql, type Connection, type FoundValues, type Sql } from './connection.ts';

/** What holds in a session, by the names of its settings. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * A session of a pooler, which gives each transaction another one of the database: what else is said once for a session is said in each
 * transaction and holds until its end, and what is asked outside of one has one of its own. So nothing of it is left to whoever comes next.
 */
export class PooledConnection implements Connection {
  readonly #session: Connection;
  readonly #settings: Sql;
  /** Ends what is under way in whichever session of the database has it; the pooler knows that. */
  readonly interrupt: () => Promise<void>;
  #isInside = false;

  constructor(session: Connection, settings: SessionSettings, interrupt: () => Promise<void>) {
    this.#session = session;
    const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
    this.#settings = bareSql(`SELECT ${set.join(', ')}`);
    this.interrupt = interrupt;
  }

  get isLost(): boolean {
    return this.#session.isLost;
  }

  async send(statements: readonly Sql[]): Promise<readonly (readonly FoundValues[])[]> {
    const isBegun = begins.test(statements[0]?.text ?? '');
    // What cannot be part of a transaction is said once, and so is what ends one that is not there.
    const isApart = statements.some(({ text, isOnce }) => isOnce || ends.test(text));
    const isOwn = !isBegun && !this.#isInside && !isApart;
    if (isBegun) this.#isInside = true;
    if (statements.some(({ text }) => ends.test(text))) this.#isInside = false;
    if (isOwn) {
      const found = await this.#session.send([bareSql('BEGIN'), this.#settings, ...statements, bareSql('COMMIT')]);
      return found.slice(2, -1);
    }
    if (!isBegun) return this.#session.send(statements);
    const [begin, ...rest] = statements as [Sql, ...Sql[]];
    const found = await this.#session.send([begin, this.#settings, ...rest]);
    return [...found.slice(0, 1), ...found.slice(2)];
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

const begins = /^BEGIN\b/;
const ends = /^(?:COMMIT|ROLLBACK)$/;
