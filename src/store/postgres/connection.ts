/** A database of PostgreSQL as it is met: at which address, and what is said over a connection. */

/** What an address says besides where the database is. */
export interface Settings {
  /** The schema in which the store lies. */
  readonly schema: string;
  /** Whether statements are prepared, and anything else is said once for a session: for a pooler each transaction has another one. */
  readonly prepares: boolean;
  /** Where to listen, if it is not the same address: poolers pass no notices on. */
  readonly listenUrl: string | undefined;
  /** Whether the database is asked for nothing but what others that speak its protocol have too. */
  readonly isPlain: boolean;
  /** How long the database may take to answer what is quick, in milliseconds, before the way to it counts as cut. */
  readonly answerMs: number;
}

/** The parameters of an address that are ours; the others are the database's own, which does not tell of ours that are misspelt. */
export const ownParameters: readonly string[] = ['schema', 'prepare', 'listen', 'plain', 'answer_timeout'];

/** Parts our own parameters from an address, `postgres://user:password@host:port/database?schema=ninefold`. @throws where it is none. */
export function readAddress(address: string): { readonly url: string; readonly name: string; readonly settings: Settings } {
  const url = URL.parse(address);
  if (!url || url.pathname.length < 2)
    throw new Error(`${shownAddress(address)} is no address of a database; write postgres://USER@HOST:PORT/DATABASE`);
  const own = new URLSearchParams(
    ownParameters.flatMap((name) => url.searchParams.getAll(name).map((value): [string, string] => [name, value])),
  );
  for (const name of ownParameters) url.searchParams.delete(name);
  const schema = own.get('schema') ?? 'ninefold';
  if (!/^[A-Za-z_][\w-]{0,62}$/.test(schema))
    throw new Error(`${schema} cannot be the name of a schema; take letters, digits and _`);
  const isTrue = (parameter: string, usual: boolean) => {
    const said = own.get(parameter) ?? String(usual);
    if (said !== 'true' && said !== 'false') throw new Error(`${parameter} is true or false, not ${said}`);
    return said === 'true';
  };
  const answerSeconds = own.get('answer_timeout') ?? '30';
  if (!/^[1-9]\d{0,3}$/.test(answerSeconds))
    throw new Error(`answer_timeout is a number of seconds from 1 to 9999, not ${answerSeconds}`);
  return {
    url: url.href,
    name: shownAddress(address),
    settings: {
      schema,
      prepares: isTrue('prepare', true),
      listenUrl: own.get('listen') ?? undefined,
      isPlain: isTrue('plain', false),
      answerMs: Number(answerSeconds) * 1000,
    },
  };
}

/** An address as it may be shown: without its password, wherever and however that is written, even where the address is none. */
export function shownAddress(address: string): string {
  return address.replace(/^([a-z]+:\/\/[^:@]*):.*@/is, '$1:…@').replace(/\?.*$/s, '');
}

/** A statement with what stands for its `$1`, `$2`, … */
export interface Sql {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** It will hardly come again: it is not worth being prepared. */
  readonly isOnce?: boolean;
}

/** A row that was found, column by column. */
export type FoundValues = readonly unknown[];

/** One session of the database. */
export interface Connection {
  /**
   * Sends all of them at once and gives what each found, in order, once all are answered.
   * @throws {DatabaseError} for the first that failed; those behind it in the same transaction were not carried out.
   */
  send(statements: readonly Sql[]): Promise<readonly (readonly FoundValues[])[]>;
  /** Whether nothing can be asked of it any more. */
  readonly isLost: boolean;
  /** Ends what is under way by another way than the database's own, where that would end somebody else's. */
  interrupt?(): Promise<void>;
  close(): Promise<void>;
}

/** What a session is for: to find some rows of tables that may grow, again and again by the same statements, or to go through whole tables too. */
export type SessionUse = 'by index' | 'anything';

/** A database that can be connected to. */
export interface Server {
  /** How it is told of in messages: without password. */
  readonly name: string;
  /** @param questionMs how long one question may take, where that is bounded */
  connect(use: SessionUse, questionMs?: number): Promise<Connection>;
  /** Has it called whenever something is told on a channel; nothing is told while the connection is lost, which `lost` says. */
  listen(channel: string, heard: () => void, lost: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** What the database, or the way to it, answered instead. */
export class DatabaseError extends Error {
  /** SQLSTATE; empty where no answer came (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
  readonly state: string;
  /** Whether the session is over. */
  readonly isLost: boolean;
  constructor(message: string, state: string, isLost: boolean, cause: unknown) {
    super(message, { cause });
    this.state = state;
    this.isLost = isLost;
  }
}

/** The database cannot be reached now. */
export class Unreachable extends DatabaseError {
  constructor(message: string, state: string, cause: unknown) {
    super(message, state, true, cause);
  }
}

const SESSIONS_MOST = 3;

/**
 * Does some work over a session; where that ends in the middle, as sessions do when a database restarts or somebody ends them, over another
 * one, a few times. It has to be work of which nothing is left where its session ends.
 */
export async function overSessions<T>(work: () => Promise<T>): Promise<T> {
  for (let sessions = 1; ; sessions++) {
    try {
      return await work();
    } catch (error) {
      const isEnded = error instanceof DatabaseError && error.isLost && !(error instanceof Unreachable);
      if (!isEnded || sessions === SESSIONS_MOST) throw error;
    }
  }
}

/** Whether it is the machine's doing, and not of what was asked: it is full, stops, holds a lock too long, or cannot be reached. */
export function isOfMachine(error: unknown): boolean {
  return error instanceof DatabaseError && (error.isLost || /^(?:08|25P0|40|53|55P03|57|58|XX)/.test(error.state));
}

/** Whether a statement was ended because it took longer than it may, or because somebody asked for that. */
export function isOutOfTime(error: unknown): boolean {
  return error instanceof DatabaseError && error.state === '57014';
}

/** A statement without values. */
export function bareSql(text: string): Sql {
  return { text, values: [] };
}
