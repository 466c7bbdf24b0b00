/** What a body reads: rows, records, counters, timers, credentials and events, of what is known or is to be asked. */

import type { OutboxReader } from '../outbox.ts';
import type { SharedWork } from '../sharing.ts';
import type {
  CredentialSearch,
  FoundRow,
  JoinedRows,
  QuerySpec,
  Reader,
  Row,
  RowNumbers,
  Scalar,
  StoredCredential,
  StoredRecord,
} from '../store.ts';
import type { FoundValues, Sql } from './connection.ts';
import { read, readScalar, type StoreNames, written } from './dialect.ts';
import { PostgresOutbox } from './outbox.ts';
import { NumberParts, PostgresQuery, type WantedRows } from './query.ts';
import type { State } from './state.ts';

/** What is remembered over all bodies of a store. */
export interface Latest {
  /** The last times at which records and counters were looked at: the store has no clock of its own. */
  recordsMs: number;
  countersMs: number;
  /** What tells this process from others that have the store. */
  readonly holder: string;
}

/** What compiled questions are kept by: each is compiled once for the tables as they are. */
export type Queries = WeakMap<QuerySpec, PostgresQuery>;

/** Reads what is known; a body that asks for more stops, and is run again once that is there. */
export class PostgresReader implements Reader {
  protected readonly state: State;
  protected readonly latest: Latest;
  readonly #queries: Queries;
  #reads: PostgresOutbox | undefined;

  constructor(state: State, queries: Queries, latest: Latest) {
    this.state = state;
    this.#queries = queries;
    this.latest = latest;
  }

  get(table: string, id: string): Row | undefined {
    this.state.shapes.of(table);
    return this.state.point({ sort: 'row', table, name: id }, false)?.row;
  }

  text(table: string, id: string): Pick<Row, 'doc' | 'rev'> | undefined {
    const row = this.get(table, id);
    return row && { doc: row.doc, rev: row.rev };
  }

  holder(table: string, column: string, value: Scalar): string | undefined {
    this.state.shapes.of(table).column(column);
    if (value === null) return undefined;
    return this.state.point({ sort: 'holder', table, column, value }, false) ?? undefined;
  }

  all(query: QuerySpec, params: readonly Scalar[]): FoundRow[] {
    const compiled = this.#compiled(query);
    return this.#ask(compiled, params, { more: 0 }, ([found = []]) => compiled.read(found));
  }

  joined(query: QuerySpec, params: readonly Scalar[], wantsFirst: boolean): JoinedRows {
    const compiled = this.#compiled(query);
    const most = query.limit === undefined ? Number.POSITIVE_INFINITY : Number(params[query.limit]);
    const found = this.#ask(compiled, params, { more: 1 }, ([rows = []]) => compiled.read(rows));
    const isMore = most >= 0 && found.length > most;
    const rows = isMore ? found.slice(0, -1) : found;
    return {
      docs: rows.map(({ doc }) => doc).join(','),
      isMore,
      last: rows.at(-1),
      first: wantsFirst ? rows[0] : undefined,
    };
  }

  count(query: QuerySpec, params: readonly Scalar[]): number {
    return this.#ask(this.#compiled(query), params, 'count', ([found = []]) => Number(found[0]?.[0] ?? 0));
  }

  numbers(query: QuerySpec, params: readonly Scalar[]): RowNumbers {
    return this.#ask(this.#compiled(query), params, 'numbers', ([found = []]) => new NumberParts(found));
  }

  among(query: QuerySpec, params: readonly Scalar[], numbers: readonly number[]): FoundRow[] {
    const compiled = this.#compiled(query);
    return this.#ask(compiled, params, { numbers }, ([found = []]) => compiled.read(found));
  }

  scan(table: string, afterSeq: number, most: number): Row[] {
    const { sql } = this.state.shapes.of(table);
    return this.state.ask({
      key: `scan ${afterSeq} ${most} ${table}`,
      concerns: [`rows ${table}`],
      sql: [
        {
          text: `SELECT id, seq, rev, entered, doc FROM ${sql} WHERE seq > $1::int8 ORDER BY seq LIMIT $2::int8`,
          values: [String(afterSeq), String(most)],
        },
      ],
      value: ([found = []]) =>
        found.map((values) => {
          // The columns are those that are selected above.
          const [id, seq, rev, entered, doc] = values as [string, number, number, number, string];
          return { id: String(readScalar(id)), seq, rev, entered, doc };
        }),
    });
  }

  record(key: string, nowMs: number): StoredRecord | undefined {
    // What never expires is asked for without a time.
    if (nowMs !== 0) this.latest.recordsMs = nowMs;
    const found = this.state.point({ sort: 'record', name: key }, true);
    return found && found.expiresMs > nowMs ? found : undefined;
  }

  credentials(search: CredentialSearch): StoredCredential[] {
    const find = (one: CredentialSearch) => {
      const sql = credentialSql(this.state.shapes.names, one);
      return this.state.ask({
        key: `${sql.text}\n${JSON.stringify(sql.values)}`,
        concerns: ['credentials'],
        sql: [sql],
        value: ([found = []]) => found.map(credentialOf),
      });
    };
    const page = find(search);
    const last = page.at(-1);
    if (!('after' in search) || !last || page.length < search.most) return page;
    // A page ends with a whole name, so that the next begins after it.
    return [...page.filter(({ name }) => name !== last.name), ...find({ name: last.name })];
  }

  /** Who takes the work of another holds the store's row: inside a change the answer is true until that is committed. */
  holds(work: SharedWork): boolean {
    const { names } = this.state.shapes;
    return this.state.ask({
      key: `holds ${work}`,
      concerns: ['leases'],
      sql: [{ text: `SELECT 1 FROM ${names.own('leases')} WHERE name = $1 AND holder = $2`, values: [work, this.latest.holder] }],
      value: ([found = []]) => found.length > 0,
    });
  }

  get outbox(): OutboxReader {
    this.#reads ??= new PostgresOutbox(this.state);
    return this.#reads;
  }

  #compiled(query: QuerySpec): PostgresQuery {
    let compiled = this.#queries.get(query);
    if (!compiled) {
      compiled = new PostgresQuery(this.state.shapes, query);
      this.#queries.set(query, compiled);
    }
    return compiled;
  }

  #ask<T>(
    compiled: PostgresQuery,
    params: readonly Scalar[],
    wanted: WantedRows,
    value: (found: readonly (readonly (readonly unknown[])[])[]) => T,
  ): T {
    const sql = compiled.sql(params, wanted);
    return this.state.ask({
      key: `${sql.text}\n${JSON.stringify(sql.values)}`,
      concerns: compiled.tables.map((table) => `rows ${table}`),
      sql: [sql],
      value,
    });
  }
}

/** What finds credentials. */
function credentialSql(names: StoreNames, search: CredentialSearch): Sql {
  const find = (where: string, ...values: string[]): Sql => ({
    text: `SELECT name, serial, scheme, lookup, "user", caller, doc FROM ${names.own('credentials')} WHERE ${where}`,
    values: values.map(written),
  });
  if ('lookup' in search) return find('lookup = $1 AND scheme = $2 ORDER BY name, serial', search.lookup, search.scheme);
  if ('caller' in search) return find('caller = $1 AND "user" = $2 ORDER BY name, serial', search.caller, search.user);
  if ('name' in search) return find('name = $1 ORDER BY serial', search.name);
  return find('name > $1 ORDER BY name, serial LIMIT $2::int8', search.after, String(search.most));
}

function credentialOf(values: FoundValues): StoredCredential {
  // The columns are those that `credentialSql` selects.
  const [name, serial, scheme, lookup, user, caller, doc] = values as [string, number, string, string, string, string, string];
  return {
    name: read(name),
    serial,
    scheme: read(scheme),
    lookup: read(lookup),
    user: read(user),
    caller: read(caller),
    doc: read(doc),
  };
}
