/** Work that one process does at a time: whose turn it is, and until when. */

import type { SharedWork } from '../sharing.ts';
import { bareSql, type Connection, type FoundValues, type Server, type Sql } from './connection.ts';
import type { StoreNames } from './dialect.ts';
import { foundBy } from './indexes.ts';

/** How long a process has some work without saying so again. */
const leaseMs = 3000;
const renewMs = 1000;

/** What is needed of the store. */
export interface SharingMeans {
  readonly server: Server;
  readonly names: StoreNames;
  /** What tells this process from others. */
  readonly holder: string;
}

interface Shared {
  readonly held: (isHeld: boolean) => void;
  /** Nothing until it was first found out. */
  isHeld: boolean | undefined;
}

/** The work that a process has, and what of it it has had all the time. */
interface Held {
  readonly mine: ReadonlySet<string>;
  readonly renewed: ReadonlySet<string>;
}

const nothingHeld: Held = { mine: new Set(), renewed: new Set() };

/**
 * Who does which work. A lease lasts for some seconds by the clock of the database, which all processes share; one is taken while the store's row
 * is held, so that whoever asks inside a change whether it still has one is told what holds until that change is committed.
 */
export class Leases {
  readonly #means: SharingMeans;
  readonly #connected: () => Promise<Connection>;
  readonly #tell: () => void;
  readonly #works = new Map<SharedWork, Shared>();
  #renewing: NodeJS.Timeout | undefined;
  #trying: Promise<void> | undefined;
  #isAgain = false;

  constructor(means: SharingMeans, connected: () => Promise<Connection>, tell: () => void) {
    this.#means = means;
    this.#connected = connected;
    this.#tell = tell;
  }

  share(work: SharedWork, held: (isHeld: boolean) => void): () => Promise<void> {
    this.#works.set(work, { held, isHeld: undefined });
    if (!this.#renewing) {
      this.#renewing = setInterval(() => this.#try(), renewMs);
      this.#renewing.unref();
    }
    this.#try();
    return () => this.#giveBack(work);
  }

  /** Tries again at once where there is work that another process may have given back. */
  tryNow(): void {
    if ([...this.#works.values()].some(({ isHeld }) => !isHeld)) this.#try();
  }

  async close(): Promise<void> {
    clearInterval(this.#renewing);
    for (const work of [...this.#works.keys()]) await this.#giveBack(work);
  }

  #try(): void {
    this.#isAgain = true;
    this.#trying ??= this.#tryAll().finally(() => {
      this.#trying = undefined;
    });
  }

  async #tryAll(): Promise<void> {
    while (this.#isAgain && this.#works.size > 0) {
      this.#isAgain = false;
      const { mine, renewed } = await this.#taken().catch(() => nothingHeld);
      for (const [work, shared] of this.#works) {
        const isHeld = mine.has(work);
        // What ran out and was taken anew was not this process's meanwhile, and what it left undone then it begins again.
        const isAnew = isHeld && shared.isHeld && !renewed.has(work);
        if (isHeld === shared.isHeld && !isAnew) continue;
        if (isAnew) shared.held(false);
        shared.isHeld = isHeld;
        shared.held(isHeld);
      }
    }
  }

  /** What this process has of the work, after taking what is free. Only where there is some is the store's row waited for. */
  async #taken(): Promise<Held> {
    const { names, holder } = this.#means;
    const table = names.own('leases');
    const nowMs = `(extract(epoch FROM clock_timestamp()) * 1000)::int8`;
    const works = [...this.#works.keys()];
    const list = `{${works.join(',')}}`;
    const connection = await this.#connected();
    const renew: Sql = {
      text: `UPDATE ${table} SET expires = ${nowMs} + ${leaseMs} WHERE holder = $1 AND expires > ${nowMs} RETURNING name`,
      values: [holder],
    };
    const free: Sql = {
      text: `SELECT count(*) FROM ${table} WHERE name = ANY($1::text[]) AND expires > ${nowMs}`,
      values: [list],
    };
    const [held = [], [[others] = []] = []] = await connection.send([renew, free]);
    const renewed = namesOf(held);
    if (Number(others) >= works.length) return { mine: renewed, renewed };
    const take: Sql = {
      text: `INSERT INTO ${table} AS l (name, holder, fence, expires)
        SELECT name, $2, 1, ${nowMs} + ${leaseMs} FROM unnest($1::text[]) AS name
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = l.fence + 1, expires = excluded.expires
        WHERE l.holder = excluded.holder OR l.expires <= ${nowMs}`,
      values: [list, holder],
    };
    const mine: Sql = { text: `SELECT name FROM ${table} WHERE holder = $1`, values: [holder] };
    const lock = bareSql(`SELECT 1 FROM ${names.own('store')} FOR UPDATE`);
    try {
      const found = await connection.send([bareSql('BEGIN'), lock, take, mine, bareSql('COMMIT')]);
      return { mine: namesOf(found[3] ?? []), renewed };
    } catch (error) {
      if (!connection.isLost) await connection.send([bareSql('ROLLBACK')]).catch(() => {});
      throw error;
    }
  }

  async #giveBack(work: SharedWork): Promise<void> {
    const shared = this.#works.get(work);
    this.#works.delete(work);
    await this.#trying;
    if (!shared) return;
    if (shared.isHeld) shared.held(false);
    const { names, holder } = this.#means;
    const give: Sql = {
      text: `UPDATE ${names.own('leases')} SET expires = 0, holder = '' WHERE name = $1 AND holder = $2`,
      values: [work, holder],
    };
    // Where it cannot be given back, it ends by itself.
    await this.#connected()
      .then((connection) => connection.send([give]))
      .catch(() => {});
    this.#tell();
  }
}

function namesOf(found: readonly FoundValues[]): Set<string> {
  return new Set(found.map(([name]) => String(name)));
}

/** How long a process has its turn without saying so again, how often it does, and how often one that waits asks. */
const turnMs = 5000;
const renewTurnMs = 1000;
const askMs = 100;
const work = 'bring up';

interface TurnMeans {
  readonly server: Server;
  readonly connection: Connection;
  readonly names: StoreNames;
  readonly holder: string;
}

/**
 * Does what one process at a time may do, also outside of transactions; one that is left open is taken back. A row says whose turn it is, and until when: so it holds over poolers and ends with
 * a process that is killed. Whoever waits, waits as long as another says that it goes on.
 */
export async function whileAlone<T>(means: TurnMeans, act: () => Promise<T>): Promise<T> {
  const { names, holder, connection, server } = means;
  const table = names.own('leases');
  const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::int8';
  const take = {
    text: `INSERT INTO ${table} AS l (name, holder, fence, expires) VALUES ($1, $2, 1, ${nowMs} + ${turnMs})
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = l.fence + 1, expires = excluded.expires
      WHERE l.holder = excluded.holder OR l.expires <= ${nowMs} RETURNING fence`,
    values: [work, holder],
  };
  while ((await foundBy({ connection }, take)).length === 0) await new Promise((resolve) => setTimeout(resolve, askMs));
  // The connection itself is busy for as long as an index takes.
  let keeper: Promise<Connection> | undefined;
  let renewed: Promise<unknown> | undefined;
  const renewing = setInterval(() => {
    keeper ??= server.connect('anything');
    renewed = keeper.then((session) => session.send([take])).catch(() => {});
  }, renewTurnMs);
  try {
    return await act();
  } finally {
    clearInterval(renewing);
    // What is said last is not said after it was given back.
    await renewed;
    const give = { text: `UPDATE ${table} SET expires = 0, holder = '' WHERE name = $1 AND holder = $2`, values: [work, holder] };
    // Where it cannot be given back, it ends by itself.
    await connection.send([bareSql('ROLLBACK'), give]).catch(() => {});
    await keeper?.then((session) => session.close()).catch(() => {});
  }
}
