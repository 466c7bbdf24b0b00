import { ReadFailed } from '../failures.ts';
import type { Migration, StoredTable } from '../maintenance.ts';
import type { Reader, Renewal, Store, TableSpec, Timer, TimerSearch, Transaction } from '../store.ts';
import { type BodyOutcome, runBodies } from './batch.ts';
import { ChangeQueue } from './changes.ts';
import { bareSql, type Connection, type FoundValues, isOfMachine, overSessions, type Server, type Sql } from './connection.ts';
import { quoteName, read, StoreNames, TableShapes, written } from './dialect.ts';
import { flushSql, purgeSql } from './flush.ts';
import type { PostgresColumnsOf } from './indexes.ts';
import { whileAlone } from './leases.ts';
import { bringTablesUp, tableNames, tablesWithRows } from './migration.ts';
import { bringUpOnline } from './online.ts';
import { dueTimers, nextTimer, timerOf, timersSql } from './outbox-sql.ts';
import { type Latest, PostgresReader, type Queries } from './reader.ts';
import { Reads } from './reads.ts';
import { bringStoreUp } from './schema.ts';
import { PostgresSharing } from './sharing.ts';
import { State } from './state.ts';
import { PostgresTransaction } from './transaction.ts';

/** Opens a store in a schema of a database that is reached by some way. */
export async function openOn(
  server: Server,
  { schema, isPlain }: { readonly schema: string; readonly isPlain: boolean },
): Promise<Store> {
  const names = new StoreNames(schema, isPlain);
  try {
    return await overSessions(async () => {
      const connection = await server.connect('anything');
      return new PostgresStore(server, names, connection, await bringStoreUp(connection, names));
    });
  } catch (error) {
    await server.close();
    throw error;
  }
}

type ReadBody = (reader: Reader) => unknown;
type ChangeBody = (transaction: Transaction) => unknown;

class PostgresStore implements Store {
  readonly #server: Server;
  readonly #names: StoreNames;
  readonly #reads: Reads<ReadBody>;
  readonly #changes: ChangeQueue<ChangeBody>;
  readonly #latest: Latest;
  readonly shared: PostgresSharing;
  #shapes: TableShapes;
  #queries: Queries = new WeakMap();
  #generation: number;
  #isPrepared = false;
  #writer: Connection | undefined;
  #asking: Connection | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(
    server: Server,
    names: StoreNames,
    connection: Connection,
    { generation, holder }: Awaited<ReturnType<typeof bringStoreUp>>,
  ) {
    this.#server = server;
    this.#names = names;
    this.#shapes = new TableShapes(names, []);
    this.#asking = connection;
    this.#generation = generation;
    this.#latest = { recordsMs: Number.MIN_SAFE_INTEGER, countersMs: Number.MIN_SAFE_INTEGER, holder };
    this.shared = new PostgresSharing({ server, names, holder });
    this.#reads = new Reads({
      name: server.name,
      newState: (putsOffAsks) => new State(this.#shapes, putsOffAsks),
      free: () => this.#free(),
      run: (state, body) => this.#run(() => body(new PostgresReader(state, this.#queries, this.#latest))),
      connect: (use, questionMs) => this.#server.connect(use, questionMs),
      generation: () => (this.#isPrepared ? this.#generation : undefined),
      asksGeneration: bareSql(`SELECT generation FROM ${names.own('store')}`),
    });
    this.#changes = new ChangeQueue({
      name: server.name,
      names,
      newState: () => new State(this.#shapes),
      generation: () => this.#generation,
      run: (state, body) => this.#runChange(state, body),
      connection: () => {
        if (this.#writer && !this.#writer.isLost) return this.#writer;
        return this.#server.connect('by index').then((connection) => (this.#writer = connection));
      },
      rowTables: async () => tableNames(await this.#free(), names),
      holder,
      purge: (state) => purgeSql(names, state, this.#latest),
      committed: (marks, revision, before) => this.shared.committed(marks, revision, before),
    });
  }

  prepare(tables: readonly TableSpec[], columnsOf: PostgresColumnsOf, renewal: Renewal = {}): Promise<Migration> {
    return this.#upkeep(async () => {
      const connection = await this.#server.connect('anything');
      try {
        const turn = { server: this.#server, connection, names: this.#names, holder: this.#latest.holder };
        return await whileAlone(turn, () => this.#prepared(connection, tables, columnsOf, renewal));
      } catch (error) {
        if (!connection.isLost) await connection.send([bareSql('ROLLBACK')]).catch(() => {});
        throw error;
      } finally {
        await connection.close();
      }
    });
  }

  tablesBeside(known: readonly string[]): Promise<readonly StoredTable[]> {
    return this.#upkeep(() => overSessions(async () => tablesWithRows(await this.#free(), this.#names, known)));
  }

  async copyTo(_path: string): Promise<void> {
    throw new Error(`${this.#server.name} is not copied into a file by Ninefold: use pg_dump`);
  }

  read<T>(body: (reader: Reader) => T, goesOn?: () => void): Promise<T> {
    // The queue holds bodies of all types; each one's promise settles with what that body returned.
    return this.#counted(() => this.#reads.add(body, goesOn) as Promise<T>);
  }

  change<T>(body: (transaction: Transaction) => T): Promise<T> {
    return this.#counted(() => this.#changes.add(body) as Promise<T>);
  }

  due(nowMs: number, most: number): Promise<Timer[]> {
    return this.#asked(dueTimers(this.#names, nowMs, most), (found) => found.map(timerOf));
  }

  timers(most: number, search: TimerSearch): Promise<Timer[]> {
    return this.#asked(timersSql(this.#names, most, search), (found) => found.map(timerOf));
  }

  nextDue(): Promise<number | undefined> {
    return this.#asked(nextTimer(this.#names), ([row]) => row && Number(row[0]));
  }

  setting(name: string, make: () => string): Promise<string> {
    const table = this.#names.own('settings');
    const find: Sql = { text: `SELECT value FROM ${table} WHERE name = $1`, values: [written(name)] };
    const found = async () => {
      const connection = await this.#free();
      const [[known] = []] = await connection.send([find]);
      if (known) return read(String(known[0]));
      const insert = {
        text: `INSERT INTO ${table} (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
        values: [written(name), written(make())],
      };
      const [, [made] = []] = await connection.send([insert, find]);
      return read(String(made?.[0]));
    };
    return this.#upkeep(() => overSessions(found));
  }

  compact(): Promise<void> {
    return this.#counted(async () => {
      await this.#changes.drain();
      const connection = await this.#free();
      const [tables = []] = await connection.send([
        { text: `SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY tablename`, values: [this.#names.schema] },
      ]);
      for (const [table] of tables)
        await connection.send([
          { text: `VACUUM (FULL) ${quoteName(this.#names.schema)}.${quoteName(String(table))}`, values: [], isOnce: true },
        ]);
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#reads
      .endLong()
      .then(() => Promise.allSettled([...this.#underWay]))
      .then(() => Promise.all([this.#changes.drain(), this.#reads.drain()]))
      .then(() => this.shared.close())
      .then(() => this.#server.close());
    return this.#closed;
  }

  async #prepared(
    connection: Connection,
    tables: readonly TableSpec[],
    columnsOf: PostgresColumnsOf,
    renewal: Renewal,
  ): Promise<Migration> {
    const names = this.#names;
    const ready = await bringUpOnline({ connection, names, columnsOf, renewal }, tables);
    const store = names.own('store');
    const lock = bareSql(`SELECT last, generation FROM ${store} FOR UPDATE`);
    const [, [[last, generation] = []] = []] = await connection.send([bareSql('BEGIN'), lock]);
    let revision = Number(last);
    let isOther = false;
    const means = {
      connection,
      names,
      columnsOf,
      renewal,
      ready,
      nextRevision: () => ++revision,
      changed: () => {
        isOther = true;
      },
    };
    const done = await bringTablesUp(means, tables);
    const shapes = new TableShapes(names, tables);
    if (renewal.settle) {
      const { settle } = renewal;
      const kept = await this.#settled(connection, shapes, (rows) => settle(rows, isOther));
      isOther ||= kept.length > 0;
      if (kept.length > 0) await connection.send(kept);
    }
    const next = Number(generation) + (isOther ? 1 : 0);
    const settle = {
      text: `UPDATE ${store} SET last = $1::int8, generation = $2::int8`,
      values: [String(revision), String(next)],
    };
    await connection.send(isOther || revision > Number(last) ? [settle, bareSql('COMMIT')] : [bareSql('COMMIT')]);
    this.#shapes = shapes;
    this.#queries = new WeakMap();
    this.#generation = next;
    this.#isPrepared = true;
    return done;
  }

  /** What is to be remembered with a migration, as statements. */
  async #settled(
    connection: Connection,
    shapes: TableShapes,
    settle: (rows: Reader) => ReturnType<NonNullable<Renewal['settle']>>,
  ): Promise<Sql[]> {
    const state = new State(shapes);
    const queries: Queries = new WeakMap();
    const body = (rows: PostgresTransaction) => {
      for (const [key, record] of settle(rows)) rows.keep(key, record);
    };
    const run = () => this.#run(() => body(new PostgresTransaction(state, queries, this.#latest)));
    const [outcome] = await runBodies({ connection, state, bodies: [body], run, rowTables: async () => [] });
    if (outcome && 'error' in outcome) throw outcome.error;
    return flushSql(state, state.done, []);
  }

  #run(body: () => unknown): BodyOutcome {
    try {
      return { value: checkSettled(body()) };
    } catch (error) {
      return { error };
    }
  }

  #runChange(state: State, body: ChangeBody): BodyOutcome {
    const transaction = new PostgresTransaction(state, this.#queries, this.#latest);
    const outcome = this.#run(() => body(transaction));
    transaction.end();
    return outcome;
  }

  #asked<T>(sql: Sql, value: (found: readonly FoundValues[]) => T): Promise<T> {
    const asked = async () => {
      const connection = await this.#free();
      const [found = []] = await connection.send([sql]);
      return value(found);
    };
    return this.#upkeep(() => overSessions(asked));
  }

  /** What is asked beside bodies. @throws {StoreUnavailable} where the machine stands in the way */
  #upkeep<T>(work: () => Promise<T>): Promise<T> {
    return this.#counted(() =>
      work().catch((error: unknown) => {
        throw isOfMachine(error) ? new ReadFailed(this.#server.name, error) : error;
      }),
    );
  }

  /** A connection for what is neither a body's nor a migration's. */
  async #free(): Promise<Connection> {
    if (!this.#asking || this.#asking.isLost) this.#asking = await this.#server.connect('anything');
    return this.#asking;
  }

  /** Work that is waited for before the store is closed. */
  #counted<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Error(`${this.#server.name} is closed`));
    const promise = work();
    this.#underWay.add(promise);
    const over = () => this.#underWay.delete(promise);
    promise.then(over, over);
    return promise;
  }
}

function checkSettled<T>(value: T): T {
  if (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function') {
    // Nobody will wait for it any more, so a failure of its own must not go unhandled.
    value.then(undefined, () => {});
    throw new TypeError('the body returned a promise; do what waits before it, and return a value');
  }
  return value;
}
