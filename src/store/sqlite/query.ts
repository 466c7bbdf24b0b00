import type { DatabaseSync } from 'node:sqlite';
import type { FoundRow, Query, QuerySpec, Scalar } from '../store.ts';
import { conditionSql, type Scope, type Slot } from './condition.ts';
import { continuations, type OrderColumn, type Part } from './continuation.ts';
import { ROW_COLUMNS, type Rows, type RowValues, rowOf } from './rows.ts';
import { type Statement, statement } from './statement.ts';

const ALIAS = 't';
/** SQLite plans a query anew whenever a bare parameter of LIMIT or OFFSET is bound. */
const LIMITED = ' LIMIT CAST(? AS INTEGER) OFFSET CAST(? AS INTEGER)';
const SAFE = `BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;

/** SQLite puts at most 500 selects together; an order by very many columns needs more. */
const SELECTS_MOST = 16;

/** Rows one after the other: a select without its limit and offset, and what is bound to each of its `?`. */
interface Stretch {
  readonly sql: string;
  readonly slots: readonly Slot[];
  rows: Statement<RowValues> | undefined;
  joined: Statement<[string | null]> | undefined;
}

/** One question over one table, as prepared statements. */
export class CompiledQuery implements Query {
  readonly #database: DatabaseSync;
  readonly #spec: QuerySpec;
  readonly #rows: Rows;
  readonly #order: OrderColumn[] = [];
  readonly #newestFirst: boolean;
  readonly #where: string;
  readonly #whereSlots: Slot[] = [];
  /** What continues after a row, by which of its values are absent. */
  readonly #continued = new Map<string, readonly Stretch[]>();
  readonly #columns: string;
  #first: readonly Stretch[] | undefined;
  #count: Statement<[number]> | undefined;

  constructor(database: DatabaseSync, find: (table: string) => Rows, spec: QuerySpec) {
    this.#database = database;
    this.#spec = spec;
    this.#rows = find(spec.table);
    let newestFirst = spec.newestFirst ?? false;
    for (const { column, descending } of spec.order ?? []) {
      const { sql, type } = this.#rows.column(column);
      if (sql === 'seq') {
        newestFirst = descending ?? false;
        break;
      }
      this.#order.push({ sql: `${ALIAS}.${sql}`, type, descending: descending ?? false });
    }
    this.#newestFirst = newestFirst;
    const columns = COLUMNS[spec.wants ?? 'row'].map((name) => `${ALIAS}.${name}`);
    this.#columns = [...columns, ...(spec.keys ? this.#order.map(exactSql) : [])].join(', ');
    const scope: Scope = { rows: this.#rows, alias: ALIAS, find };
    this.#where = spec.where ? conditionSql(scope, spec.where, this.#whereSlots) : '';
  }

  all(params: readonly Scalar[]): FoundRow[] {
    const [most, skipped] = this.#bounds(params);
    const [first, ...others] = this.#stretches(params);
    if (others.length === 0) return this.#found(this.#rowsOf(first!, params, most, skipped));
    const wanted = most < 0 ? -1 : most + skipped;
    let found = this.#rowsOf(first!, params, wanted, 0);
    for (const stretch of others) {
      if (found.length === wanted) break;
      found = found.concat(this.#rowsOf(stretch, params, wanted < 0 ? -1 : wanted - found.length, 0));
    }
    return this.#found(found.slice(skipped));
  }

  joined(params: readonly Scalar[]): string {
    const [first, ...others] = this.#stretches(params);
    if (!first || others.length > 0)
      return this.all(params)
        .map(({ doc }) => doc)
        .join(',');
    // An aggregate takes its rows in the order in which a subquery with a limit gives them.
    first.joined ??= statement(this.#database, `SELECT group_concat(doc, ',') FROM (${first.sql}${LIMITED})`);
    const [most, skipped] = this.#bounds(params);
    return first.joined.get(...bound(first.slots, params), most, skipped)?.[0] ?? '';
  }

  count(params: readonly Scalar[]): number {
    this.#count ??= statement(
      this.#database,
      `SELECT count(*) FROM ${this.#rows.sql} AS ${ALIAS}${this.#where && ` WHERE ${this.#where}`}`,
    );
    return this.#count.get(...bound(this.#whereSlots, params))![0];
  }

  #bounds(params: readonly Scalar[]): readonly [most: number, skipped: number] {
    const { limit, offset } = this.#spec;
    return [limit === undefined ? -1 : Number(params[limit]), offset === undefined ? 0 : Number(params[offset])];
  }

  #rowsOf(stretch: Stretch, params: readonly Scalar[], most: number, skipped: number): RowValues[] {
    stretch.rows ??= statement(this.#database, stretch.sql + LIMITED);
    return stretch.rows.all(...bound(stretch.slots, params), most, skipped);
  }

  /** The selects that give the rows in their order; one, unless the order is by very many columns. */
  #stretches(params: readonly Scalar[]): readonly Stretch[] {
    const from = this.#spec.after;
    if (from === undefined) {
      this.#first ??= [this.#stretch([{ sql: '', slots: [] }])];
      return this.#first;
    }
    let absent = '';
    for (let index = 0; index < this.#order.length; index++) if (params[from + index] === null) absent += `${index} `;
    const known = this.#continued.get(absent);
    if (known) return known;
    const isAbsent = this.#order.map((_, index) => params[from + index] === null);
    const parts = continuations(this.#order, `${ALIAS}.seq`, this.#newestFirst, isAbsent, from);
    const made: Stretch[] = [];
    for (let at = 0; at < parts.length; at += SELECTS_MOST) made.push(this.#stretch(parts.slice(at, at + SELECTS_MOST)));
    this.#continued.set(absent, made);
    return made;
  }

  #stretch(parts: readonly Part[]): Stretch {
    const order = this.#order.map(({ sql, descending }) => (descending ? `${sql} DESC` : sql));
    order.push(`${ALIAS}.seq${this.#newestFirst ? ' DESC' : ''}`);
    const selects = parts.map((part) => {
      const where = [this.#where, part.sql].filter(Boolean).join(' AND ');
      return `SELECT ${this.#columns} FROM ${this.#rows.sql} AS ${ALIAS}${where && ` WHERE ${where}`} ORDER BY ${order.join(', ')}`;
    });
    return {
      sql: selects.length === 1 ? selects[0]! : selects.map((select) => `SELECT * FROM (${select})`).join(' UNION ALL '),
      slots: parts.flatMap(({ slots }) => [...this.#whereSlots, ...slots]),
      rows: undefined,
      joined: undefined,
    };
  }

  #found(rows: RowValues[]): FoundRow[] {
    const { wants = 'row', keys } = this.#spec;
    if (wants === 'row' && !keys) return rows.map(rowOf);
    const first = COLUMNS[wants].length;
    const keysOf = (values: readonly Scalar[]) =>
      keys ? this.#order.map(({ type }, index) => exact(type, values[first + index]!)) : undefined;
    if (wants !== 'row') return rows.map((values) => partOf(wants, values, keysOf(values)));
    return rows.map((values) => ({ ...rowOf(values), keys: keysOf(values) }));
  }
}

/** What is selected first, before the keys. */
const COLUMNS = { row: ROW_COLUMNS, text: ['seq', 'doc'], place: ['seq'] } as const;

/** A row of which only a part was selected: `seq`, and `doc` after it where its text is wanted. */
function partOf(wants: 'text' | 'place', values: readonly unknown[], keys: readonly Scalar[] | undefined): FoundRow {
  const [seq, doc] = values as readonly [number, string];
  return { id: '', seq, rev: 0, entered: 0, doc: wants === 'text' ? doc : '', keys };
}

function bound(slots: readonly Slot[], params: readonly Scalar[]): Scalar[] {
  const values: Scalar[] = [];
  for (const slot of slots) values.push(typeof slot === 'number' ? params[slot]! : slot.value);
  return values;
}

/** A number cannot hold every 64-bit integer: those outside its exact range come as text, and become a BigInt. */
function exactSql({ sql, type }: OrderColumn): string {
  return type === 'integer' ? `iif(typeof(${sql}) = 'integer' AND ${sql} NOT ${SAFE}, CAST(${sql} AS TEXT), ${sql})` : sql;
}

function exact(type: OrderColumn['type'], value: Scalar): Scalar {
  return type === 'integer' && typeof value === 'string' ? BigInt(value) : value;
}
