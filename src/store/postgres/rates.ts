import { CommitFailed } from '../failures.ts';
import {
  type AskedRate,
  type AskedRates,
  type DecidedRates,
  type RateRules,
  type SharedRates,
  type TakenRate,
  WaitingRates,
} from '../sharing.ts';
import { bareSql, type Connection, isOfMachine, overSessions, type Server, type Sql } from './connection.ts';
import type { StoreNames } from './dialect.ts';

/** How often what is over is let go of, and how much of it at a time. */
const purgeMs = 1000;
const purgedMost = 1000;

/** Ends are told in whole minutes, so that a row that is counted anew hardly ever moves in the index of its end. */
const endStepMs = 60_000;

/** The row by which batches come one after the other, where no other lock is to be had. */
const turns = 'rates';

type Use = Parameters<RateRules['decide']>[1];

/**
 * Rates in a table of the database that no log is written of: nothing is flushed, and a crash of the database begins all of them anew. Batches
 * of all processes come one after the other, by a lock of their own that lasts as long as the transaction; changes of rows do not wait for them.
 */
export class PostgresRates implements SharedRates {
  readonly #server: Server;
  readonly #names: StoreNames;
  readonly #rulesOf: (kind: string) => RateRules;
  readonly #waiting = new WaitingRates((asked) => this.#batch(asked));
  #connection: Connection | undefined;
  #isMade = false;
  #purgedMs = Number.NEGATIVE_INFINITY;

  constructor(server: Server, names: StoreNames, rulesOf: (kind: string) => RateRules) {
    this.#server = server;
    this.#names = names;
    this.#rulesOf = rulesOf;
  }

  count(asked: AskedRates): Promise<DecidedRates> {
    return this.#waiting.add(asked);
  }

  close(): Promise<void> {
    return this.#waiting.drain();
  }

  /** A session that ends at the commit may leave a batch counted twice: some are refused early then, and never one let through too much. */
  async #batch(asked: readonly AskedRates[]): Promise<readonly DecidedRates[]> {
    try {
      return await overSessions(() => this.#counted(asked));
    } catch (error) {
      throw isOfMachine(error) ? new CommitFailed(this.#server.name, error) : error;
    }
  }

  async #counted(asked: readonly AskedRates[]): Promise<readonly DecidedRates[]> {
    const connection = await this.#connected();
    try {
      if (!this.#isMade) await this.#make(connection);
      const keys = new Set(asked.flatMap(({ rates, back }) => [...rates, ...back].map(({ key }) => key)));
      const [, , found = [], [[machineMs] = []] = []] = await connection.send([
        bareSql('BEGIN'),
        this.#lock(),
        { text: `SELECT key, numbers FROM ${this.#names.own('rates')} WHERE key = ANY($1::text[])`, values: [listOf(keys)] },
        bareSql('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8'),
      ]);
      const uses = new RateUses(this.#rulesOf, new Map(found.map(([key, numbers]) => [String(key), String(numbers)])));
      const decided = asked.map((one) => uses.decide(one, Number(machineMs)));
      await connection.send([...this.#writes(uses, Number(machineMs)), bareSql('COMMIT')]);
      return decided;
    } catch (error) {
      if (!connection.isLost) await connection.send([bareSql('ROLLBACK')]).catch(() => {});
      throw error;
    }
  }

  #writes(uses: RateUses, machineMs: number): Sql[] {
    const table = this.#names.own('rates');
    const { keys, numbers, ends } = uses.changed();
    const statements: Sql[] = [];
    if (keys.length > 0)
      statements.push({
        text: `INSERT INTO ${table} (key, numbers, expires) SELECT * FROM unnest($1::text[], $2::text[], $3::int8[])
          ON CONFLICT (key) DO UPDATE SET numbers = excluded.numbers, expires = excluded.expires`,
        values: [listOf(keys), listOf(numbers), listOf(ends)],
      });
    if (machineMs - this.#purgedMs >= purgeMs) {
      this.#purgedMs = machineMs;
      statements.push({
        text: `DELETE FROM ${table} WHERE key IN (SELECT key FROM ${table} WHERE expires <= $1::int8 LIMIT ${purgedMost})`,
        values: [String(machineMs)],
      });
    }
    return statements;
  }

  #lock(): Sql {
    if (this.#names.isPlain)
      return { text: `SELECT 1 FROM ${this.#names.own('leases')} WHERE name = $1 FOR UPDATE`, values: [turns] };
    return { text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', values: [`rates of ${this.#names.schema}`] };
  }

  async #make(connection: Connection): Promise<void> {
    const table = this.#names.own('rates');
    const once = (text: string): Sql => ({ text, values: [], isOnce: true });
    const [[found] = []] = await connection.send([{ text: 'SELECT to_regclass($1)::text', values: [table], isOnce: true }]);
    if (this.#names.isPlain)
      await connection.send([
        {
          text: `INSERT INTO ${this.#names.own('leases')} (name, holder, fence, expires) VALUES ($1, '', 0, 0) ON CONFLICT DO NOTHING`,
          values: [turns],
        },
      ]);
    if (found?.[0] === null || found === undefined)
      await connection.send([
        once('BEGIN'),
        this.#lock(),
        once(
          `CREATE ${this.#names.isPlain ? '' : 'UNLOGGED '}TABLE IF NOT EXISTS ${table} (key text COLLATE "C" PRIMARY KEY, numbers text NOT NULL, expires int8 NOT NULL)
            WITH (fillfactor = 50)`,
        ),
        once(`CREATE INDEX IF NOT EXISTS ninefold_rates_expires ON ${table} (expires)`),
        once('COMMIT'),
      ]);
    this.#isMade = true;
  }

  async #connected(): Promise<Connection> {
    if (!this.#connection || this.#connection.isLost) this.#connection = await this.#server.connect('by index');
    return this.#connection;
  }
}

/** What is kept under the keys of a batch, as its requests are counted one after the other. */
class RateUses {
  readonly #rulesOf: (kind: string) => RateRules;
  readonly #stored: ReadonlyMap<string, string>;
  readonly #uses = new Map<string, Use>();
  readonly #ends = new Map<string, number>();

  constructor(rulesOf: (kind: string) => RateRules, stored: ReadonlyMap<string, string>) {
    this.#rulesOf = rulesOf;
    this.#stored = stored;
  }

  /** @param machineMs The time of the database, by which what is over is let go of. */
  decide({ rates, back, nowMs: given }: AskedRates, machineMs: number): DecidedRates {
    const nowMs = given ?? machineMs;
    const tried = rates.map((rate) => {
      const use = copyOf(this.#use(rate.key, rate.kind));
      return { rate, use, decision: this.#rulesOf(rate.kind).decide(rate.facts, use, nowMs, rate.cost) };
    });
    if (tried.length > 0 && tried.every(({ decision }) => decision.isAllowed))
      for (const { rate, use } of tried) this.#keep(rate, use, machineMs);
    else for (const one of back) this.#giveBack(one, nowMs, machineMs);
    return { atMs: nowMs, rates: tried.map(({ decision }) => decision) };
  }

  /** The keys that were counted, sorted, with their numbers and when they end. */
  changed(): { readonly keys: readonly string[]; readonly numbers: readonly string[]; readonly ends: readonly string[] } {
    const keys = [...this.#ends.keys()].sort();
    return {
      keys,
      // What was counted was looked at before.
      numbers: keys.map((key) => textOf(this.#uses.get(key)!)),
      ends: keys.map((key) => String(Math.ceil(this.#ends.get(key)! / endStepMs) * endStepMs)),
    };
  }

  #giveBack(taken: TakenRate, nowMs: number, machineMs: number): void {
    const use = this.#use(taken.key, taken.kind);
    this.#rulesOf(taken.kind).giveBack(taken.facts, use, nowMs, taken);
    this.#keep(taken, use, machineMs);
  }

  #use(key: string, kind: string): Use {
    let use = this.#uses.get(key);
    if (!use) {
      use = { numbers: new Float64Array(this.#rulesOf(kind).numbersMax), length: 0 };
      for (const text of this.#stored.get(key)?.split(' ') ?? []) if (text !== '') use.numbers[use.length++] = Number(text);
      this.#uses.set(key, use);
    }
    return use;
  }

  #keep({ key, memoryMs }: AskedRate, use: Use, machineMs: number): void {
    this.#uses.set(key, use);
    this.#ends.set(key, machineMs + memoryMs);
  }
}

function copyOf({ numbers, length }: Use): Use {
  return { numbers: numbers.slice(), length };
}

function textOf({ numbers, length }: Use): string {
  return numbers.subarray(0, length).join(' ');
}

/** An array of texts that hold no quotation marks. */
function listOf(texts: Iterable<string>): string {
  return `{${[...texts].map((text) => `"${text}"`).join(',')}}`;
}
