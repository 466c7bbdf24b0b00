import type { DatabaseSync } from 'node:sqlite';
import type { Scalar } from '../store.ts';
import type { Binding, ConditionPart } from './condition.ts';
import { type Statement, statement } from './statement.ts';

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
