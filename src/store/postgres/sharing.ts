import type { Mark, SharedStore, SharedWork } from '../sharing.ts';
import { bareSql, type Connection, type Server, type Sql } from './connection.ts';
import type { StoreNames } from './names.ts';

/** How long a process has some work without saying so again. */
const leaseMs = 3000;
const renewMs = 1000;
/** A notice that is lost costs so long. */
const pollMs = 500;
/** How long others wait at least before they look again. */
const restMs = 10;

const markNames = ['events', 'credentials', 'subscribers', 'timers'] as const satisfies readonly Mark[];

/** What is needed of the store. */
export interface SharingMeans {
  readonly server: Server;
  readonly names: StoreNames;
  /** What tells this process from others. */
  readonly holder: string;
}

/**
 * Tells this process what others have changed, and shares work among them. The store's row says what was changed last, by its number; a notice
 * says only that it is worth looking, and none is sent inside a transaction that writes.
 */
export class PostgresSharing implements SharedStore {
  readonly #means: SharingMeans;
  readonly #watching = new Set<(marks: ReadonlySet<Mark>) => void>();
  readonly #seen = new Map<Mark, number>();
  readonly #leases: Leases;
  #connection: Promise<Connection> | undefined;
  #unlisten: (() => Promise<void>) | undefined;
  #isListening = false;
  #polling: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isAgain = false;
  #telling: Promise<unknown> | undefined;
  #mustTell = false;
  #isClosed = false;

  constructor(means: SharingMeans) {
    this.#means = means;
    this.#leases = new Leases(
      means,
      () => this.#connected(),
      () => this.#tell(),
    );
  }

  watch(changed: (marks: ReadonlySet<Mark>) => void): () => void {
    this.#watching.add(changed);
    this.#start();
    return () => {
      this.#watching.delete(changed);
    };
  }

  share(work: SharedWork, held: (isHeld: boolean) => void): () => Promise<void> {
    this.#start();
    return this.#leases.share(work, held);
  }

  /** This process has committed a change of these under a number. */
  committed(marks: ReadonlySet<string>, revision: number): void {
    let isWorthIt = false;
    for (const mark of markNames) {
      if (!marks.has(mark)) continue;
      this.#seen.set(mark, Math.max(revision, this.#seen.get(mark) ?? 0));
      isWorthIt = true;
    }
    if (isWorthIt) this.#tell();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#polling);
    await this.#leases.close();
    await this.#looking;
    await this.#telling;
    await this.#unlisten?.();
  }

  #start(): void {
    if (this.#polling || this.#isClosed) return;
    this.#polling = setInterval(() => {
      this.#listen();
      this.#look();
    }, pollMs);
    this.#polling.unref();
    this.#listen();
    this.#look();
  }

  #listen(): void {
    if (this.#isListening || this.#isClosed) return;
    this.#isListening = true;
    const lost = () => {
      this.#isListening = false;
      this.#unlisten = undefined;
    };
    const heard = () => {
      this.#look();
      this.#leases.tryNow();
    };
    this.#means.server.listen(channelOf(this.#means.names), heard, lost).then((unlisten) => {
      this.#unlisten = unlisten;
      if (this.#isClosed) void unlisten();
    }, lost);
  }

  /** Looks what was changed; at most one look is under way, and one more is made where something was heard meanwhile. */
  #look(): void {
    this.#isAgain = true;
    this.#looking ??= this.#lookAround().finally(() => {
      this.#looking = undefined;
    });
  }

  async #lookAround(): Promise<void> {
    while (this.#isAgain && !this.#isClosed) {
      this.#isAgain = false;
      try {
        const connection = await this.#connected();
        const [[row = []] = []] = await connection.send([
          bareSql(`SELECT ${markNames.join(', ')} FROM ${this.#means.names.own('store')}`),
        ]);
        this.#compare(row);
      } catch {
        // It is looked again at the next turn; who changes or reads something is told what is wrong.
      }
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }

  #compare(row: readonly unknown[]): void {
    const changed = new Set<Mark>();
    for (const [index, mark] of markNames.entries()) {
      const now = Number(row[index] ?? 0);
      const before = this.#seen.get(mark);
      if (before !== undefined && now <= before) continue;
      this.#seen.set(mark, now);
      changed.add(mark);
    }
    if (changed.size > 0) for (const watching of this.#watching) watching(changed);
  }

  /** Tells all others that it is worth looking; what comes meanwhile is told by one more notice. */
  #tell(): void {
    this.#mustTell = true;
    this.#telling ??= this.#tellAll().finally(() => {
      this.#telling = undefined;
    });
  }

  async #tellAll(): Promise<void> {
    while (this.#mustTell) {
      this.#mustTell = false;
      const notice: Sql = { text: 'SELECT pg_notify($1, $2)', values: [channelOf(this.#means.names), ''] };
      await this.#connected()
        .then((connection) => connection.send([notice]))
        .catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }

  async #connected(): Promise<Connection> {
    const known = await this.#connection?.catch(() => undefined);
    if (known && !known.isLost) return known;
    this.#connection = this.#means.server.connect();
    return this.#connection;
  }
}

function channelOf({ schema }: StoreNames): string {
  return `ninefold_${schema}`.slice(0, 60);
}

interface Shared {
  readonly held: (isHeld: boolean) => void;
  /** Nothing until it was first found out. */
  isHeld: boolean | undefined;
}

/**
 * Who does which work. A lease lasts for some seconds by the clock of the database, which all processes share; one is taken while the store's row
 * is held, so that whoever asks inside a change whether it still has one is told what holds until that change is committed.
 */
class Leases {
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
      const taken = await this.#taken().catch(() => new Set<string>());
      for (const [work, shared] of this.#works) {
        const isHeld = taken.has(work);
        if (isHeld === shared.isHeld) continue;
        shared.isHeld = isHeld;
        shared.held(isHeld);
      }
    }
  }

  /** What this process has of the work, after taking what is free. Only where there is some is the store's row waited for. */
  async #taken(): Promise<Set<string>> {
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
    if (Number(others) >= works.length) return new Set(held.map(([name]) => String(name)));
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
      return new Set((found[3] ?? []).map(([name]) => String(name)));
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
