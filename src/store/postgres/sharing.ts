import type { Mark, RateRules, SharedRates, SharedStore, SharedWork } from '../sharing.ts';
import { bareSql, type Connection, type FoundValues, overSessions, type Sql } from './connection.ts';
import { read, type StoreNames, written } from './dialect.ts';
import { Leases, type SharingMeans } from './leases.ts';
import { markNames } from './ops.ts';
import { PostgresRates } from './rates.ts';

/** A notice that is lost costs so long. */
const pollMs = 500;
/** How long others wait at least before they look again. */
const restMs = 10;

/**
 * Tells this process what others have changed, and shares work among them. The store's row says what was changed last, by its number; a notice
 * says only that it is worth looking, and none is sent inside a transaction that writes.
 */
export class PostgresSharing implements SharedStore {
  readonly #means: SharingMeans;
  readonly #watching = new Set<(marks: ReadonlySet<Mark>) => void>();
  readonly #seen = new Map<Mark, number>();
  /** What others have changed, and those who watch have not been told yet. */
  readonly #untold = new Set<Mark>();
  readonly #leases: Leases;
  readonly #rates: SharedRates[] = [];
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
    // What was seen before was told to nobody.
    this.#seen.clear();
    this.#start();
    this.#look();
    return () => {
      this.#watching.delete(changed);
    };
  }

  remembered(key: string): Promise<{ readonly fingerprint: string; readonly body: string } | undefined> {
    return overSessions(async () => {
      const connection = await this.#connected();
      const find = {
        text: `SELECT fingerprint, body FROM ${this.#means.names.own('records')} WHERE key = $1`,
        values: [written(key)],
      };
      const [[found] = []] = await connection.send([find]);
      return found && { fingerprint: read(String(found[0])), body: read(String(found[1])) };
    });
  }

  share(work: SharedWork, held: (isHeld: boolean) => void): () => Promise<void> {
    this.#start();
    return this.#leases.share(work, held);
  }

  rates(rulesOf: (kind: string) => RateRules): SharedRates {
    const rates = new PostgresRates(this.#means.server, this.#means.names, rulesOf);
    this.#rates.push(rates);
    return rates;
  }

  /**
   * This process has committed a change of these under a number. What others had changed before it shows by the marks of then, and not any more by
   * those of now.
   */
  committed(marks: ReadonlySet<string>, revision: number, before: FoundValues): void {
    this.#compare(before);
    if (this.#untold.size > 0) this.#look();
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
    for (const rates of this.#rates) await rates.close();
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
    // Where nothing is told, it is looked all the same.
    if (this.#isListening || this.#isClosed || this.#means.names.isPlain) return;
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
        this.#tellWatching();
      } catch {
        // It is looked again at the next turn; who changes or reads something is told what is wrong.
      }
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }

  /** Notes down which marks are higher than this process knows. */
  #compare(row: FoundValues): void {
    for (const [index, mark] of markNames.entries()) {
      const now = Number(row[index] ?? 0);
      const before = this.#seen.get(mark);
      if (before !== undefined && now <= before) continue;
      this.#seen.set(mark, now);
      this.#untold.add(mark);
    }
  }

  #tellWatching(): void {
    if (this.#untold.size === 0) return;
    const changed = new Set(this.#untold);
    this.#untold.clear();
    for (const watching of this.#watching) watching(changed);
  }

  /** Tells all others that it is worth looking; what comes meanwhile is told by one more notice. */
  #tell(): void {
    if (this.#means.names.isPlain) return;
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
    this.#connection = this.#means.server.connect('by index');
    return this.#connection;
  }
}

function channelOf({ schema }: StoreNames): string {
  return `ninefold_${schema}`.slice(0, 60);
}
