import type { DatabaseSync } from 'node:sqlite';
import type { FoundRow, Query, QuerySpec, Scalar } from '../store.ts';
import { conditionSql, type Scope, type Slot } from './condition.ts';
import { continuations, type OrderColumn } from './continuation.ts';
import { ROW_COLUMNS, type Rows, type RowValues, rowOf } from './rows.ts';
import { type Statement, statement } from './statement.ts';

const ALIAS = 't';
/** SQLite plans a query anew whenever a bare parameter of LIMIT or OFFSET is bound. */
const NUMBER = 'CAST(? AS INTEGER)';
const SAFE = `BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;

/** A statement with what is bound to each of its `?`, but for the limit and offset at its end. */
interface Prepared {
  readonly statement: Statement<RowValues>;
  readonly slots: readonly Slot[];
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
  /** Statements that continue after a row, by which of its values are absent. */
  readonly #continued = new Map<number, Prepared[]>();
  #first: Prepared | undefined;
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
    const scope: Scope = { rows: this.#rows, alias: ALIAS, find };
    this.#where = spec.where ? conditionSql(scope, spec.where, this.#whereSlots) : '';
  }

  all(params: readonly Scalar[]): FoundRow[] {
    const most = this.#spec.limit === undefined ? -1 : Number(params[this.#spec.limit]);
    const skipped = this.#spec.offset === undefined ? 0 : Number(params[this.#spec.offset]);
    if (this.#spec.after === undefined) {
      this.#first ??= this.#prepare('', [], ` LIMIT ${NUMBER} OFFSET ${NUMBER}`);
      const { statement, slots } = this.#first;
      return this.#found(statement.all(...bound(slots, params), most, skipped));
    }
    const wanted = most < 0 ? -1 : most + skipped;
    let found: RowValues[] = [];
    for (const { statement, slots } of this.#after(params, this.#spec.after)) {
      if (found.length === wanted) break;
      const more = statement.all(...bound(slots, params), wanted < 0 ? -1 : wanted - found.length);
      found = found.length === 0 ? more : found.concat(more);
    }
    return this.#found(skipped > 0 ? found.slice(skipped) : found);
  }

  count(params: readonly Scalar[]): number {
    this.#count ??= statement(
      this.#database,
      `SELECT count(*) FROM ${this.#rows.sql} AS ${ALIAS}${this.#where && ` WHERE ${this.#where}`}`,
    );
    return this.#count.get(...bound(this.#whereSlots, params))![0];
  }

  #after(params: readonly Scalar[], from: number): Prepared[] {
    let absent = 0;
    for (let index = 0; index < this.#order.length; index++) if (params[from + index] === null) absent += 2 ** index;
    let prepared = this.#continued.get(absent);
    if (!prepared) {
      const isAbsent = this.#order.map((_, index) => params[from + index] === null);
      const parts = continuations(this.#order, `${ALIAS}.seq`, this.#newestFirst, isAbsent, from);
      prepared = parts.map(({ sql, slots }) => this.#prepare(sql, slots, ` LIMIT ${NUMBER}`));
      this.#continued.set(absent, prepared);
    }
    return prepared;
  }

  #prepare(condition: string, slots: readonly Slot[], end: string): Prepared {
    const where = [this.#where, condition].filter(Boolean).join(' AND ');
    const order = this.#order.map(({ sql, descending }) => (descending ? `${sql} DESC` : sql));
    const columns = this.#spec.lean ? LEAN_COLUMNS : ROW_COLUMNS;
    const selected = columns.map((name) => `${ALIAS}.${name}`);
    if (this.#spec.keys && !this.#spec.lean) selected.push(...this.#order.map(exactSql));
    order.push(`${ALIAS}.seq${this.#newestFirst ? ' DESC' : ''}`);
    const sql = `SELECT ${selected.join(', ')} FROM ${this.#rows.sql} AS ${ALIAS}${where && ` WHERE ${where}`} ORDER BY ${order.join(', ')}${end}`;
    return { statement: statement(this.#database, sql), slots: [...this.#whereSlots, ...slots] };
  }

  #found(rows: RowValues[]): FoundRow[] {
    // Lean statements select two columns, which stand first.
    if (this.#spec.lean)
      return (rows as unknown as [doc: string, seq: number][]).map(([doc, seq]) => ({ id: '', seq, rev: 0, entered: 0, doc }));
    if (!this.#spec.keys) return rows.map(rowOf);
    return rows.map((values) => {
      const keys = this.#order.map(({ type }, index) => exact(type, values[5 + index]!));
      return { id: values[0], seq: values[1], rev: values[2], entered: values[3], doc: values[4], keys };
    });
  }
}

const LEAN_COLUMNS = ['doc', 'seq'] as const;

function bound(slots: readonly Slot[], params: readonly Scalar[]): Scalar[] {
  return slots.map((slot) => (typeof slot === 'number' ? params[slot]! : slot.value));
}

/** A number cannot hold every 64-bit integer: those outside its exact range come as text, and become a BigInt. */
function exactSql({ sql, type }: OrderColumn): string {
  return type === 'integer' ? `iif(typeof(${sql}) = 'integer' AND ${sql} NOT ${SAFE}, CAST(${sql} AS TEXT), ${sql})` : sql;
}

function exact(type: OrderColumn['type'], value: Scalar): Scalar {
  return type === 'integer' && typeof value === 'string' ? BigInt(value) : value;
}
