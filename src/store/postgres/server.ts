import type { Client, ClientConfig } from 'pg';
import {
  type Connection,
  DatabaseError,
  type FoundValues,
  overSessions,
  type Server,
  type Settings,
  type Sql,
  Unreachable,
} from './connection.ts';
import { PooledConnection, type SessionSettings } from './pooled.ts';

/** How long a statement may wait for others, and how long a transaction may rest before the database ends it: both hold others up. */
const waits = { lock_timeout: 15_000, idle_in_transaction_session_timeout: 10_000 } as const satisfies ClientConfig;
const clientSettings = {
  connectionTimeoutMillis: 5000,
  keepAlive: true,
  application_name: 'ninefold',
} as const satisfies ClientConfig;

/** What holds in each session. Parts of one question are read in their order, one after the other. */
function settingsOf(isByIndex: boolean, questionMs: number | undefined): SessionSettings {
  return {
    max_parallel_workers_per_gather: '0',
    jit: 'off',
    ...(isByIndex && { enable_seqscan: 'off' }),
    ...(questionMs !== undefined && { statement_timeout: String(questionMs) }),
  };
}

/** The server behind an address, over the driver `pg`, which is loaded when it is first connected to. */
export function pgServer(url: string, name: string, { prepares, isPlain, listenUrl, answerMs }: Settings): Server {
  const open = new Set<PgConnection>();
  return {
    name,
    async connect(use, questionMs) {
      // A statement is planned once, perhaps while its table is nearly empty, and that plan is kept while the table grows.
      const settings = settingsOf(use === 'by index' && prepares && !isPlain, questionMs);
      const client = await connected(url, name, { pipeline: true, ...(prepares && waits) }, prepares ? settings : {});
      const connection = new PgConnection(client, prepares, use === 'by index' ? answerMs : undefined, () =>
        open.delete(connection),
      );
      open.add(connection);
      if (prepares) return connection;
      return new PooledConnection(connection, { ...settings, ...texts(waits) }, () => canceled(url, client));
    },
    async listen(channel, heard, lost) {
      // A pooler passes no notices on: it is looked instead.
      if (!prepares && listenUrl === undefined) return async () => {};
      const client = await connected(listenUrl ?? url, name, waits, {});
      let isOver = false;
      client.on('notification', heard);
      const over = () => {
        if (!isOver) lost();
        isOver = true;
      };
      client.on('error', over);
      client.on('end', over);
      await client.query(`LISTEN "${channel}"`);
      client.unref();
      return async () => {
        isOver = true;
        client.ref();
        await client.end();
      };
    },
    async close() {
      await Promise.all([...open].map((connection) => connection.close()));
    },
  };
}

function texts(numbers: Readonly<Record<string, number>>): SessionSettings {
  return Object.fromEntries(Object.entries(numbers).map(([setting, value]) => [setting, String(value)]));
}

function connected(url: string, name: string, more: ClientConfig, settings: SessionSettings): Promise<Client & Holding> {
  return overSessions(() => connectedOnce(url, name, more, settings));
}

async function connectedOnce(
  url: string,
  name: string,
  more: ClientConfig,
  settings: SessionSettings,
): Promise<Client & Holding> {
  const { Client: PgClient } = await import('pg');
  // It has both (pg 8, lib/client.js).
  const client = new PgClient({ connectionString: url, ...clientSettings, ...more, types: { getTypeParser } }) as Client &
    Holding;
  // A session may end at any time; whoever asks something of it is told.
  client.on('error', () => {});
  try {
    await client.connect();
    const set = Object.entries(settings).map(([setting, value]) => `SET ${setting} = ${value}`);
    if (set.length > 0) await client.query(set.join('; '));
    return client;
  } catch (error) {
    client.end().catch(() => {});
    const [told, state] = [`${name} cannot be reached: ${messageOf(error)}`, stateOf(error)];
    // A session may be ended as soon as it was begun.
    throw /^57P01|^$/.test(state) && isOfSession(error)
      ? new DatabaseError(told, state, true, error)
      : new Unreachable(told, state, error);
  }
}

/** Asks for the end of what a session is at, and resolves once that was taken. */
async function canceled(url: string, { processID, secretKey }: Holding): Promise<void> {
  const { Client: PgClient } = await import('pg');
  // It has these (pg 8, lib/client.js): whoever cancels is a client that is not connected, and names what it is to cancel.
  const asking = new PgClient(url) as unknown as Canceling;
  const { stream } = asking.connection;
  const underWay = {};
  return new Promise((resolve) => {
    asking.connection.on('error', () => {});
    stream.on('close', () => resolve());
    stream.setTimeout(cancelMs, () => stream.destroy());
    asking.cancel({ activeQuery: underWay, processID, secretKey }, underWay);
  });
}

const cancelMs = 5000;

interface Canceling {
  readonly connection: {
    on(event: 'error', heard: () => void): void;
    readonly stream: {
      on(event: 'close', heard: () => void): void;
      setTimeout(ms: number, late: () => void): void;
      destroy(): void;
    };
  };
  cancel(target: Pick<Holding, 'processID' | 'secretKey'> & { readonly activeQuery: object }, query: object): void;
}

/** Whether a session was begun, as far as can be told: neither the way there nor the time it took stood against it. */
function isOfSession(error: unknown): boolean {
  const { code, message } =
    error instanceof AggregateError ? (error.errors[0] ?? error) : (error as Partial<Error & { code: string }>);
  return !/^E[A-Z_]+$/.test(String(code)) && !/timeout/.test(String(message));
}

/** What the driver's own types leave out of a client. */
interface Holding {
  readonly processID: number | null;
  readonly secretKey: number | null;
  /** Keeps the process alive, as long as something is asked. */
  ref(): void;
  unref(): void;
  readonly connection: { readonly stream: { cork(): void; uncork(): void; destroy(error: Error): void } };
}

class PgConnection implements Connection {
  readonly #client: Client & Holding;
  readonly #prepares: boolean;
  readonly #answerMs: number | undefined;
  readonly #closed: () => void;
  readonly #names = new Map<string, string>();
  #lost: unknown;
  #underWay = 0;
  isLost = false;

  /** @param answerMs how long an answer may take; undefined where what is asked may take any time */
  constructor(client: Client & Holding, prepares: boolean, answerMs: number | undefined, closed: () => void) {
    this.#client = client;
    this.#prepares = prepares;
    this.#answerMs = answerMs;
    this.#closed = closed;
    const over = (error?: unknown) => {
      this.#lost ??= error;
      this.isLost = true;
      closed();
    };
    client.on('error', over);
    client.on('end', over);
    client.unref();
  }

  async send(statements: readonly Sql[]): Promise<readonly (readonly FoundValues[])[]> {
    // A store that nobody asks anything keeps no process alive.
    if (this.#underWay++ === 0) this.#client.ref();
    const { stream } = this.#client.connection;
    // All of them go out at once.
    stream.cork();
    const asked = statements.map((one) => this.#query(one));
    stream.uncork();
    const late = this.#answerMs === undefined ? undefined : setTimeout(() => this.#giveUp(), this.#answerMs);
    const answers = await Promise.allSettled(asked);
    clearTimeout(late);
    // Whoever closes it meanwhile waits for its end.
    if (--this.#underWay === 0 && !this.isLost) this.#client.unref();
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (failed) throw this.#told(failed.reason);
    // None of them was rejected.
    return answers.map((answer) => (answer as PromiseFulfilledResult<{ rows: FoundValues[] }>).value.rows);
  }

  /** What is lost on the way is answered by nobody: the session counts as ended, and what was asked is asked over another one. */
  #giveUp(): void {
    this.#client.connection.stream.destroy(new Error(`no answer came for ${Number(this.#answerMs) / 1000} s`));
  }

  async close(): Promise<void> {
    this.isLost = true;
    this.#closed();
    // Whoever waits for the end is kept alive until then.
    this.#client.ref();
    await this.#client.end().catch(() => {});
  }

  #query({ text, values, isOnce }: Sql): Promise<{ rows: FoundValues[] }> {
    const query = { text, values: [...values], rowMode: 'array' as const };
    return this.#client.query(this.#prepares && !isOnce ? { ...query, name: this.#nameOf(text) } : query);
  }

  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `n${this.#names.size}`;
      this.#names.set(text, name);
    }
    return name;
  }

  #told(error: unknown): DatabaseError {
    const state = stateOf(error);
    // An answer with a state came from the server; of class 57P and 25P03 are those that end the session, of class 08 those of a pooler that
    // lost it, and after 40003 nobody knows what became of the statement.
    const isLost = this.isLost || state === '' || /^(?:08|57P|25P03|40003)/.test(state);
    if (isLost) {
      this.isLost = true;
      this.#client.end().catch(() => {});
      this.#closed();
    }
    return new DatabaseError(messageOf(this.#lost ?? error), state, isLost, error);
  }
}

function stateOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(?!E)[0-9A-Z]{5}$/.test(code) ? code : '';
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

const INT8 = 20;
const FLOAT8 = 701;
const INT4 = 23;
const BOOL = 16;

/** Values as the store reads them: whole numbers exactly, everything else as text. */
function getTypeParser(oid: number): (text: string) => unknown {
  if (oid === INT8) return readInteger;
  if (oid === FLOAT8 || oid === INT4) return Number;
  if (oid === BOOL) return (text) => text === 't';
  return (text) => text;
}

/** A number cannot hold every 64-bit integer: those outside its exact range become a BigInt. */
export function readInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
