import type { DatabaseSync } from 'node:sqlite';
import type { Condition, FoundRow, JoinedRows, Query, QuerySpec, Scalar, TableSpec } from '../store.ts';
import {
  type Binding,
  type ConditionPart,
  conditionSql,
  continuations,
  exact,
  exactSql,
  type OrderColumn,
  type TableScope,
} from './condition.ts';
import { indexPath, PartScan, type TableSelection, type WalkedPath } from './index-walk.ts';
import { ROW_COLUMNS, type RowValues, rowOf, TableRows } from './rows.ts';
import type { SlicedQuestion } from './slices.ts';
import { type Statement, statement } from './statement.ts';
import { bound, STEP } from './walk.ts';

/** The prepared tables and the queries compiled over them. A change of tables makes a new one. */
export class Tables {
  readonly #database: DatabaseSync;
  readonly #rows = new Map<string, TableRows>();
  readonly #queries = new WeakMap<QuerySpec, CompiledQuery>();
  readonly #guarded = new WeakMap<QuerySpec, CompiledQuery>();

  constructor(database: DatabaseSync, specs: readonly TableSpec[]) {
    this.#database = database;
    for (const spec of specs) this.#rows.set(spec.name, new TableRows(database, spec));
  }

  rows(name: string): TableRows {
    const found = this.#rows.get(name);
    if (!found) throw new Error(`the store has no table ${name}; prepare it first`);
    return found;
  }

  query(spec: QuerySpec): CompiledQuery {
    let compiled = this.#queries.get(spec);
    if (!compiled) {
      compiled = new CompiledQuery(this.#database, (name) => this.rows(name), spec);
      this.#queries.set(spec, compiled);
    }
    return compiled;
  }

  /** The same question, which counts the rows that it looks at. */
  guarded(spec: QuerySpec): CompiledQuery {
    let compiled = this.#guarded.get(spec);
    if (!compiled) {
      compiled = new CompiledQuery(this.#database, (name) => this.rows(name), spec, true);
      this.#guarded.set(spec, compiled);
    }
    return compiled;
  }
}

const ALIAS = 't';
/** SQLite puts at most 500 selects together; an order by very many columns needs more. */
const SELECTS_MOST = 16;

/** So many rows of a range of an index take well under a millisecond. */
const RANGE_MOST = 5000;

/** One question over one table, as prepared statements. */
export class CompiledQuery implements Query {
  readonly #database: DatabaseSync;
  readonly #spec: QuerySpec;
  readonly #order: OrderColumn[] = [];
  readonly #scope: TableScope;
  readonly #newestFirst: boolean;
  readonly #selection: TableSelection;
  /** What continues after a row, by which of its values are absent. */
  readonly #continued = new Map<string, readonly PartScan[]>();
  #first: readonly PartScan[] | undefined;
  #count: Statement<[number]> | undefined;
  #numbers: Statement<[number]> | undefined;
  #among: Statement<readonly Scalar[]> | undefined;

  constructor(database: DatabaseSync, find: (table: string) => TableRows, spec: QuerySpec, isGuarded = false) {
    this.#database = database;
    this.#spec = spec;
    const rows = find(spec.table);
    let newestFirst = spec.newestFirst ?? false;
    for (const { column, descending } of spec.order ?? []) {
      const { sql, type } = rows.column(column);
      if (sql === 'seq') {
        newestFirst = descending ?? false;
        break;
      }
      this.#order.push({ sql: `${ALIAS}.${sql}`, type, descending: descending ?? false });
    }
    this.#newestFirst = newestFirst;
    this.#scope = { rows, alias: ALIAS, find };
    const slots: Binding[] = [];
    const asked = spec.where ? conditionSql(this.#scope, spec.where, slots) : '';
    const where = isGuarded ? [STEP, asked].filter(Boolean).join(' AND ') : asked;
    const keys = spec.keys ? this.#order.map(exactSql) : [];
    const [columns, places] = [`${ALIAS}.doc`, `'' AS doc`].map((doc) => [
      ...(spec.lean ? LEAN_COLUMNS : ROW_COLUMNS).map((name) => (name === 'doc' ? doc : `${ALIAS}.${name}`)),
      ...keys,
    ]);
    this.#selection = {
      from: `${rows.sql} AS ${ALIAS}`,
      columns: columns!,
      places: places!,
      where,
      slots,
      equal: equalColumns(spec.where)?.map((name) => rows.column(name).sql.replaceAll('"', '')),
      order: [
        ...this.#order.map(({ sql, descending }) => (descending ? `${sql} DESC` : sql)),
        `${ALIAS}.seq${newestFirst ? ' DESC' : ''}`,
      ].join(', '),
    };
  }

  all(params: readonly Scalar[]): FoundRow[] {
    const [most, skipped] = [this.most(params), this.skipped(params)];
    return this.#find(params, most, skipped);
  }

  joined(params: readonly Scalar[], wantsFirst: boolean): JoinedRows {
    const [most, skipped] = [this.most(params), this.skipped(params)];
    const [only, ...others] = this.#stretches(params);
    if (!only?.isRange || others.length > 0) return joinedOf(this.#find(params, most + 1, skipped), most);
    const values = bound(only.slots, params);
    const place = (at: number, count: number) => this.#found(only.places.all(...values, count, skipped + at));
    const [last, next] = place(most - 1, 2);
    return {
      docs: only.docs.get(...values, most, skipped)?.[0] ?? '',
      isMore: next !== undefined,
      last,
      first: wantsFirst ? place(0, 1)[0] : undefined,
    };
  }

  /** The creation numbers of all rows, in their order. */
  numbers(params: readonly Scalar[]): number[] {
    const { from, where, slots, order } = this.#selection;
    this.#numbers ??= statement(
      this.#database,
      `SELECT ${ALIAS}.seq FROM ${from}${where && ` WHERE ${where}`} ORDER BY ${order}`,
    );
    return this.#numbers.all(...bound(slots, params)).map(([seq]) => seq);
  }

  /** Those of some rows, by their numbers, that are found. */
  among(params: readonly Scalar[], numbers: readonly number[]): FoundRow[] {
    const { from, columns, where, slots, order } = this.#selection;
    this.#among ??= statement(
      this.#database,
      `SELECT ${columns.join(', ')} FROM ${from} NOT INDEXED
       WHERE ${[`${ALIAS}.seq IN (SELECT value FROM json_each(?))`, where].filter(Boolean).join(' AND ')} ORDER BY ${order}`,
    );
    return this.#found(this.#among.all(JSON.stringify(numbers), ...bound(slots, params)));
  }

  count(params: readonly Scalar[]): number {
    const { from, where, slots } = this.#selection;
    this.#count ??= statement(this.#database, `SELECT count(*) FROM ${from}${where && ` WHERE ${where}`}`);
    return this.#count.get(...bound(slots, params))![0];
  }

  /** The most rows to give; below 0 for all of them. */
  most(params: readonly Scalar[]): number {
    const { limit } = this.#spec;
    return limit === undefined ? -1 : Number(params[limit]);
  }

  skipped(params: readonly Scalar[]): number {
    const { offset } = this.#spec;
    return offset === undefined ? 0 : Number(params[offset]);
  }

  get after(): number | undefined {
    return this.#spec.after;
  }

  /** Whether it may look at very many rows: it does where they are not one range of an index, or are many. */
  mayBeLong(params: readonly Scalar[]): boolean {
    const most = this.most(params);
    if (most < 0 || most + this.skipped(params) > RANGE_MOST) return true;
    return !this.#stretches(params).every(({ isRange }) => isRange);
  }

  sliced(): SlicedQuestion {
    const { from, columns, where, slots, order } = this.#selection;
    return {
      database: this.#database,
      from,
      where,
      slots,
      order,
      sorted: this.#order,
      keys: this.#order.map(exactSql),
      keysOf: (values) => this.#order.map(({ type }, index) => exact(type, values[index]!)),
      newestFirst: this.#newestFirst,
      path: this.#path(),
      beyond: (params, at) => this.#beyond(params, at),
      columns,
      found: (rows) => this.#found(rows),
    };
  }

  #path(): WalkedPath | undefined {
    const { rows } = this.#scope;
    const order = (this.#spec.order ?? []).slice(0, this.#order.length);
    const path = indexPath({ ...this.#spec, order, newestFirst: this.#newestFirst }, rows.indexes);
    if (!path) return undefined;
    const slots: Binding[] = [];
    const where = conditionSql(this.#scope, { op: 'and', of: path.conditions }, slots);
    const equal = path.equal.map((name) => rows.column(name).sql.replaceAll('"', ''));
    const sorted = path.rest.map(({ column, descending }) => {
      const { sql, type } = rows.column(column);
      return { sql: `${ALIAS}.${sql}`, type, descending };
    });
    return { ...path, where: { where, slots, equal }, sorted };
  }

  #beyond(params: readonly Scalar[], from: number): ConditionPart[] {
    const isAbsent = this.#order.map((_, index) => params[from + index] === null);
    return continuations(this.#order, `${ALIAS}.seq`, this.#newestFirst, isAbsent, from);
  }

  #find(params: readonly Scalar[], most: number, skipped: number): FoundRow[] {
    const ask = ({ rows, slots }: PartScan, count: number, skip: number) =>
      this.#found(rows.all(...bound(slots, params), count, skip));
    const [first, ...others] = this.#stretches(params);
    if (others.length === 0) return ask(first!, most, skipped);
    const wanted = most < 0 ? -1 : most + skipped;
    let found = ask(first!, wanted, 0);
    for (const stretch of others) {
      if (found.length === wanted) break;
      found = found.concat(ask(stretch, wanted < 0 ? -1 : wanted - found.length, 0));
    }
    return found.slice(skipped);
  }

  /** The selects that give the rows in their order; one, unless the order is by very many columns. */
  #stretches(params: readonly Scalar[]): readonly PartScan[] {
    const from = this.#spec.after;
    if (from === undefined) {
      this.#first ??= [new PartScan(this.#database, this.#selection, [{ sql: '', slots: [] }])];
      return this.#first;
    }
    let absent = '';
    for (let index = 0; index < this.#order.length; index++) if (params[from + index] === null) absent += `${index} `;
    const known = this.#continued.get(absent);
    if (known) return known;
    const parts = this.#beyond(params, from);
    const made: PartScan[] = [];
    for (let at = 0; at < parts.length; at += SELECTS_MOST)
      made.push(new PartScan(this.#database, this.#selection, parts.slice(at, at + SELECTS_MOST)));
    this.#continued.set(absent, made);
    return made;
  }

  /** The rows of what `columns` or `places` selected. */
  #found(rows: readonly (readonly Scalar[])[]): FoundRow[] {
    const { lean, keys } = this.#spec;
    const first = lean ? LEAN_COLUMNS.length : ROW_COLUMNS.length;
    const keysOf = (values: readonly Scalar[]) =>
      keys ? this.#order.map(({ type }, index) => exact(type, values[first + index]!)) : undefined;
    // The columns are those of the one list or of the other.
    if (lean) return (rows as readonly LeanValues[]).map((values) => leanRow(values, keysOf(values)));
    const whole = rows as readonly RowValues[];
    return keys ? whole.map((values) => ({ ...rowOf(values), keys: keysOf(values) })) : whole.map(rowOf);
  }
}

const LEAN_COLUMNS = ['seq', 'doc'] as const;
type LeanValues = readonly [seq: number, doc: string, ...keys: Scalar[]];

function leanRow([seq, doc]: LeanValues, keys: readonly Scalar[] | undefined): FoundRow {
  return { id: '', seq, rev: 0, entered: 0, doc, keys };
}

/** Rows that were found one by one, one more than are wanted, as one text. */
export function joinedOf(found: FoundRow[], most: number): JoinedRows {
  const isMore = found.length > most;
  if (isMore) found.pop();
  return { docs: found.map(({ doc }) => doc).join(','), isMore, first: found[0], last: found.at(-1) };
}

/** The columns that have to equal something; nothing where a condition asks for anything else. */
function equalColumns(where: Condition | undefined): string[] | undefined {
  if (!where || where.op === 'true') return [];
  if (where.op === 'and') {
    const each = where.of.map(equalColumns);
    return each.includes(undefined) ? undefined : each.flatMap((names) => names ?? []);
  }
  return where.op === '=' && 'column' in where.left && 'param' in where.right ? [where.left.column] : undefined;
}
