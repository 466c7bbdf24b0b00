/** How the rows of a part of a table are gone through: as one select, or along an index. */

import type { DatabaseSync } from 'node:sqlite';
import type { Condition, IndexColumn, QuerySpec, Scalar } from '../store.ts';
import { type Binding, type ConditionPart, continuations, exact, exactSql, type OrderColumn } from './condition.ts';
import { type Statement, statement } from './statement.ts';
import { bound, type Slices, type Stretch, type Walk, type WalkedTable, type WalkWidth, Width } from './walk.ts';

/** What is selected of a table, and in which order. */
export interface TableSelection {
  readonly from: string;
  readonly columns: readonly string[];
  /** The same columns with an empty text in place of `doc`, which is the dearest of them. */
  readonly places: readonly string[];
  /** What holds for all rows, with what its `?` stand for. */
  readonly where: string;
  readonly slots: readonly Binding[];
  /** The columns that `where` wants to equal something, as SQLite names them; nothing where it wants anything else. */
  readonly equal: readonly string[] | undefined;
  readonly order: string;
}

type Values = readonly Scalar[];

/** SQLite plans a query anew whenever a bare parameter of LIMIT or OFFSET is bound. */
const LIMITED = ' LIMIT CAST(? AS INTEGER) OFFSET CAST(? AS INTEGER)';

/** The rows of some parts of a table, one part after the other, as one select whose last two `?` are its limit and offset. */
export class PartScan {
  /** What is bound to each `?` before those. */
  readonly slots: readonly Binding[];
  readonly #database: DatabaseSync;
  readonly #selection: TableSelection;
  readonly #parts: readonly ConditionPart[];
  #rows: Statement<Values> | undefined;
  #places: Statement<Values> | undefined;
  #docs: Statement<readonly [string | null]> | undefined;
  #isRange: boolean | undefined;

  constructor(database: DatabaseSync, selection: TableSelection, parts: readonly ConditionPart[]) {
    this.#database = database;
    this.#selection = selection;
    this.#parts = parts;
    this.slots = parts.flatMap(({ slots }) => [...selection.slots, ...slots]);
  }

  get rows(): Statement<Values> {
    this.#rows ??= statement(this.#database, this.#select(this.#selection.columns));
    return this.#rows;
  }

  get places(): Statement<Values> {
    this.#places ??= statement(this.#database, this.#select(this.#selection.places));
    return this.#places;
  }

  /** The rows' `doc`s as one text: an aggregate takes its rows in the order in which a subquery with a limit gives them. */
  get docs(): Statement<readonly [string | null]> {
    this.#docs ??= statement(this.#database, `SELECT group_concat(doc, ',') FROM (${this.#select(['t.doc AS doc'])})`);
    return this.#docs;
  }

  /** Whether the rows are read off an index, without sorting and without passing any over: then a few of them cost little. */
  get isRange(): boolean {
    this.#isRange ??= this.#plan().every((step) => isRead(step, this.#selection.equal));
    return this.#isRange;
  }

  #plan(): string[] {
    const sql = `EXPLAIN QUERY PLAN ${this.#select(this.#selection.places)}`;
    const steps = statement<readonly [number, number, number, string]>(this.#database, sql).all(...this.slots.map(() => null));
    return steps.map(([, , , detail]) => detail).filter((step) => !isTogether.test(step));
  }

  #select(columns: readonly string[]): string {
    const { from, where, order } = this.#selection;
    const selects = this.#parts.map((part) => {
      const conditions = [where, part.sql].filter(Boolean).join(' AND ');
      return `SELECT ${columns.join(', ')} FROM ${from}${conditions && ` WHERE ${conditions}`} ORDER BY ${order}`;
    });
    const all = selects.length === 1 ? selects[0]! : selects.map((select) => `SELECT * FROM (${select})`).join(' UNION ALL ');
    return all + LIMITED;
  }
}

/** The steps of a plan that put the rows of others one after the other. */
const isTogether = /^(?:COMPOUND QUERY|LEFT-MOST SUBQUERY|UNION ALL|CO-ROUTINE .*|SCAN \(subquery-\d+\))$/;

/** Whether a step goes along an index, or the table itself, from the first row that is wanted. */
function isRead(step: string, equal: readonly string[] | undefined): boolean {
  if (!equal || !/^(?:SEARCH|SCAN) t\b/.test(step)) return false;
  const bounds = /\((.*)\)$/.exec(step)?.[1]?.split(' AND ') ?? [];
  return equal.every((name) => bounds.includes(`${name}=?`));
}

/** A part of an index as what goes along it has to know it. */
export interface WalkedPath extends IndexPath {
  /** What the columns of the index have to meet, as SQL. */
  readonly where: Pick<TableSelection, 'where' | 'slots' | 'equal'>;
  /** The columns after those that are fixed, in the direction of the walk. */
  readonly sorted: readonly OrderColumn[];
}

/** Along a part of an index, from its beginning or from a row on: the rows outside of it are not looked at. */
export class IndexWalk implements Walk {
  readonly among = 't.seq IN (SELECT value FROM json_each(?))';
  readonly isInOrder: boolean;
  readonly #path: WalkedPath;
  readonly #params: readonly Scalar[];
  readonly #width: WalkWidth;
  readonly #tellsNumbers: boolean;
  /** What goes on after a row, by which of its values are absent. */
  readonly #continued = new Map<string, PartScan>();
  readonly #scanOf: (place: readonly Scalar[] | undefined) => PartScan;
  readonly #start: readonly Scalar[] | undefined;

  /** Nothing where SQLite would not read the rows off an index in that order. `start` has the values of a row in the order of the question. */
  static along(
    table: WalkedTable,
    path: WalkedPath,
    params: readonly Scalar[],
    width: WalkWidth,
    start: readonly Scalar[] | undefined,
  ): IndexWalk | undefined {
    const place = start && path.isInOrder ? [...path.restAt.map((at) => start[at]!), start.at(-1)!] : undefined;
    // A row that was passed is passed by the order alone; in another one all are looked at.
    const walk = new IndexWalk(table, path, params, width, place, path.isWhole && (!start || path.isInOrder));
    return walk.#scanOf(undefined).isRange && (!place || walk.#scanOf(place).isRange) ? walk : undefined;
  }

  private constructor(
    { database, from }: WalkedTable,
    path: WalkedPath,
    params: readonly Scalar[],
    width: WalkWidth,
    start: readonly Scalar[] | undefined,
    tellsNumbers: boolean,
  ) {
    this.isInOrder = path.isInOrder;
    this.#path = path;
    this.#params = params;
    this.#width = width;
    this.#start = start;
    this.#tellsNumbers = tellsNumbers;
    const columns = [...path.sorted.map(exactSql), 't.seq'];
    const order = [
      ...path.sorted.map(({ sql, descending }) => `${sql}${descending ? ' DESC' : ''}`),
      `t.seq${path.newestFirst ? ' DESC' : ''}`,
    ];
    const selection = { from, columns, places: columns, order: order.join(', '), ...path.where };
    this.#scanOf = (place) => {
      const isAbsent = place?.slice(0, -1).map((value) => value === null);
      const key = isAbsent?.join() ?? 'first';
      const known = this.#continued.get(key);
      if (known) return known;
      const parts = isAbsent
        ? continuations(path.sorted, 't.seq', path.newestFirst, isAbsent, params.length)
        : [{ sql: '', slots: [] }];
      const made = new PartScan(database, selection, parts);
      this.#continued.set(key, made);
      return made;
    };
  }

  *through(look: (stretch: Stretch) => boolean): Slices<void> {
    const { sorted } = this.#path;
    const width = new Width(this.#width);
    let place = this.#start;
    for (;;) {
      const scan = this.#scanOf(place);
      const values = bound(scan.slots, place ? [...this.#params, ...place] : this.#params);
      const { rows } = width;
      const isOver = width.measured(() => {
        const found = scan.rows.all(...values, rows, 0);
        const last = found.at(-1);
        if (!last) return true;
        place = [...sorted.map(({ type }, at) => exact(type, last[at]!)), last.at(-1)!];
        const numbers = found.map((row) => Number(row.at(-1)));
        const isWanted = look({ values: [JSON.stringify(numbers)], numbers: this.#tellsNumbers ? numbers : undefined });
        return !isWanted || found.length < rows;
      });
      if (isOver) return;
      yield;
    }
  }
}

/** A part of an index that has all rows of a question: those that equal something in its first columns, and lie in a range of the next. */
interface IndexPath {
  /** What the columns of the index have to meet. */
  readonly conditions: readonly Condition[];
  /** The columns that have to equal something. */
  readonly equal: readonly string[];
  /** The columns after those, in the direction of the walk. */
  readonly rest: readonly { readonly column: string; readonly descending: boolean }[];
  /** Where, in the order that was asked for, each of these stands, if that is its order. */
  readonly restAt: readonly number[];
  /** Whether creation order, at the end of the index, goes newest first. */
  readonly newestFirst: boolean;
  /** Whether that is the order that was asked for. */
  readonly isInOrder: boolean;
  /** Whether nothing else is asked of the rows. */
  readonly isWhole: boolean;
}

/** The part of an index with the most columns that a question fixes, if there is one. */
export function indexPath(
  { where, order, newestFirst }: Pick<QuerySpec, 'where' | 'order' | 'newestFirst'>,
  indexes: readonly (readonly IndexColumn[])[],
): IndexPath | undefined {
  const conditions = conditionsOf(where);
  const asked = { order: order ?? [], newestFirst: newestFirst ?? false };
  let best: { readonly fixed: number; readonly path: IndexPath } | undefined;
  for (const index of indexes) {
    const found = pathAlong(index, conditions, asked);
    if (!found || (best && (found.fixed < best.fixed || (found.fixed === best.fixed && best.path.isInOrder)))) continue;
    best = found;
  }
  return best?.path;
}

/** What is asked of columns by itself: `column` `op` a value. */
interface ColumnCondition {
  readonly column: string;
  readonly isEqual: boolean;
  readonly condition: Condition;
}

interface Asked {
  readonly order: NonNullable<QuerySpec['order']>;
  readonly newestFirst: boolean;
}

const ranges: ReadonlySet<Condition['op']> = new Set(['<', '<=', '>', '>=', 'prefix']);

/** The conditions that all have to hold; what is asked of a column by itself has its name. */
function conditionsOf(where: Condition | undefined): (ColumnCondition | undefined)[] {
  if (!where || where.op === 'true') return [];
  if (where.op === 'and') return where.of.flatMap(conditionsOf);
  const isEqual = where.op === '=';
  if (!('left' in where) || !(isEqual || ranges.has(where.op))) return [undefined];
  const { left, right } = where;
  return 'column' in left && ('param' in right || 'value' in right)
    ? [{ column: left.column, isEqual, condition: where }]
    : [undefined];
}

function pathAlong(
  index: readonly IndexColumn[],
  conditions: readonly (ColumnCondition | undefined)[],
  asked: Asked,
): { readonly fixed: number; readonly path: IndexPath } | undefined {
  const columns = index.map((entry) => (typeof entry === 'string' ? { column: entry, descending: false } : entry));
  const equal: string[] = [];
  const used: ColumnCondition[] = [];
  for (const { column } of columns) {
    const found = conditions.find((one) => one?.isEqual && one.column === column);
    if (!found) break;
    equal.push(column);
    used.push(found);
  }
  const next = columns[equal.length]?.column;
  const ranged = conditions.filter((one) => one !== undefined && !one.isEqual && one.column === next);
  used.push(...ranged.flatMap((one) => one ?? []));
  if (used.length === 0) return undefined;
  const rest = columns.slice(equal.length);
  const { isInOrder, isReversed } = compareOrder(rest, equal, asked);
  return {
    fixed: 2 * equal.length + (ranged.length > 0 ? 1 : 0),
    path: {
      conditions: used.map(({ condition }) => condition),
      equal,
      rest: isReversed ? rest.map(({ column, descending }) => ({ column, descending: !descending })) : rest,
      restAt: asked.order.flatMap(({ column }, at) => (equal.includes(column) ? [] : [at])),
      newestFirst: isReversed,
      isInOrder,
      isWhole: used.length === conditions.length,
    },
  };
}

/** Whether an index has rows in an order as it stands, or turned round; columns that equal one value order nothing. */
function compareOrder(rest: IndexPath['rest'], equal: readonly string[], { order, newestFirst }: Asked) {
  const own = order.filter(({ column }) => !equal.includes(column));
  const isAsStated = (turned: boolean) =>
    newestFirst === turned &&
    own.length === rest.length &&
    own.every(
      ({ column, descending = false }, at) => column === rest[at]!.column && (descending !== turned) === rest[at]!.descending,
    );
  const isReversed = isAsStated(true);
  return { isInOrder: isReversed || isAsStated(false), isReversed };
}
