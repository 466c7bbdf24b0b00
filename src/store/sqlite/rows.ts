import type { DatabaseSync } from 'node:sqlite';
import { Duplicate } from '../failures.ts';
import type { ColumnSpec, NewRow, Row, Scalar, TableSpec } from '../store.ts';
import { CORRUPT, errorNumber, quote, rowsColumn, rowsTable, type Statement, statement, UNIQUE_BROKEN } from './statement.ts';

/** What every query of rows selects first, in this order. */
export const ROW_COLUMNS = ['id', 'seq', 'rev', 'entered', 'doc'] as const;
export type RowValues = readonly [id: string, seq: number, rev: number, entered: number, doc: string, ...keys: Scalar[]];

/** A column as SQL, with the type that decides how its values are compared and read. */
export interface RowColumn {
  readonly sql: string;
  readonly type: ColumnSpec['type'];
}

const ENGINE_COLUMNS: ReadonlyMap<string, RowColumn> = new Map([
  ['id', { sql: 'id', type: 'text' }],
  ['seq', { sql: 'seq', type: 'integer' }],
  ['rev', { sql: 'rev', type: 'integer' }],
  ['entered', { sql: 'entered', type: 'integer' }],
]);

/** The rows of one table, with its statements prepared as they are first needed. */
export class TableRows {
  readonly name: string;
  readonly sql: string;
  readonly indexes: TableSpec['indexes'];
  readonly #database: DatabaseSync;
  readonly #columns = new Map(ENGINE_COLUMNS);
  /** How SQLite names each unique column when it is broken, and what it is called here. */
  readonly #uniqueNames = new Map<string, string>();
  /** The stated columns as SQL, in their order. */
  readonly #stated: readonly string[];
  readonly #holders = new Map<string, Statement<[string]>>();
  #get: Statement<RowValues> | undefined;
  #text: Statement<[doc: string, rev: number]> | undefined;
  #scan: Statement<RowValues> | undefined;
  #insert: Statement | undefined;
  #update: Statement<[number]> | undefined;
  #replace: Statement | undefined;
  #remove: Statement | undefined;
  #takeBack: Statement | undefined;

  constructor(database: DatabaseSync, spec: TableSpec) {
    const table = rowsTable(spec.name);
    this.#database = database;
    this.name = spec.name;
    this.sql = quote(table);
    this.indexes = spec.indexes;
    this.#uniqueNames.set(`${table}.id`, 'id');
    for (const { name, type } of spec.columns) {
      this.#columns.set(name, { sql: quote(rowsColumn(name, type)), type });
      if (spec.unique.includes(name)) this.#uniqueNames.set(`${table}.${rowsColumn(name, type)}`, name);
    }
    this.#stated = spec.columns.map(({ name }) => this.column(name).sql);
  }

  column(name: string): RowColumn {
    const found = this.#columns.get(name);
    if (!found) throw new Error(`table ${this.name} has no column ${name}; state it before it is used`);
    return found;
  }

  get(id: string): Row | undefined {
    this.#get ??= statement(this.#database, `SELECT ${ROW_COLUMNS.join(', ')} FROM ${this.sql} WHERE id = ?`);
    const found = this.#get.get(id);
    return found && rowOf(found);
  }

  text(id: string): Pick<Row, 'doc' | 'rev'> | undefined {
    this.#text ??= statement(this.#database, `SELECT doc, rev FROM ${this.sql} WHERE id = ?`);
    const found = this.#text.get(id);
    return found && { doc: wholeText(found[0]), rev: found[1] };
  }

  scan(afterSeq: number, most: number): Row[] {
    this.#scan ??= statement(
      this.#database,
      `SELECT ${ROW_COLUMNS.join(', ')} FROM ${this.sql} WHERE seq > ? ORDER BY seq LIMIT CAST(? AS INTEGER)`,
    );
    return this.#scan.all(afterSeq, most).map(rowOf);
  }

  holder(column: string, value: Scalar): string | undefined {
    let held = this.#holders.get(column);
    if (!held) {
      held = statement(this.#database, `SELECT id FROM ${this.sql} WHERE ${this.column(column).sql} = ?`);
      this.#holders.set(column, held);
    }
    return held.get(value)?.[0];
  }

  /** `rev` is the row's creation number too: revisions of a store only rise. */
  insert(row: NewRow, rev: number): Row {
    this.#insert ??= statement(
      this.#database,
      `INSERT INTO ${this.sql} (${['seq', 'id', 'rev', 'entered', 'doc', ...this.#stated].join(', ')})
       VALUES (?, ?, ?, ?, ?${', ?'.repeat(this.#stated.length)})`,
    );
    this.checkWidth(row);
    try {
      this.#insert.get(rev, row.id, rev, row.entered, row.doc, ...row.columns);
    } catch (error) {
      throw this.#named(error);
    }
    return { id: row.id, seq: rev, rev, entered: row.entered, doc: row.doc };
  }

  /** Undoes an insertion; `rev` was given to no other row, so that nothing happens where there was none. */
  takeBack(rev: number): void {
    this.#takeBack ??= statement(this.#database, `DELETE FROM ${this.sql} WHERE seq = ?`);
    this.#takeBack.get(rev);
  }

  update(row: NewRow, rev: number): Row {
    this.#update ??= statement(
      this.#database,
      `UPDATE ${this.sql} SET ${['rev', 'entered', 'doc', ...this.#stated].map((name) => `${name} = ?`).join(', ')}
       WHERE id = ? RETURNING seq`,
    );
    this.checkWidth(row);
    let found: readonly [number] | undefined;
    try {
      found = this.#update.get(rev, row.entered, row.doc, ...row.columns, row.id);
    } catch (error) {
      throw this.#named(error);
    }
    if (!found) throw new Error(`table ${this.name} has no row ${row.id} to update; insert it`);
    return { id: row.id, seq: found[0], rev, entered: row.entered, doc: row.doc };
  }

  /** Writes a row that is there, by its creation number, where no value of it can be refused. */
  replace(row: NewRow, rev: number, seq: number): void {
    this.#replace ??= statement(
      this.#database,
      `UPDATE ${this.sql} SET ${['rev', 'entered', 'doc', ...this.#stated].map((name) => `${name} = ?`).join(', ')} WHERE seq = ?`,
    );
    this.#replace.get(rev, row.entered, row.doc, ...row.columns, seq);
  }

  remove(id: string): void {
    this.#remove ??= statement(this.#database, `DELETE FROM ${this.sql} WHERE id = ?`);
    this.#remove.get(id);
  }

  /** Whether a value can be refused because another row holds it. */
  get hasUnique(): boolean {
    return this.#uniqueNames.size > 1;
  }

  checkWidth(row: NewRow): void {
    const width = this.#stated.length;
    if (row.columns.length === width) return;
    throw new RangeError(`table ${this.name} has ${width} columns, and ${row.columns.length} values came for row ${row.id}`);
  }

  #named(error: unknown): unknown {
    if (errorNumber(error) !== UNIQUE_BROKEN || !(error instanceof Error)) return error;
    const column = this.#uniqueNames.get(error.message.slice('UNIQUE constraint failed: '.length));
    return column === undefined ? error : new Duplicate(this.name, column);
  }
}

/** The row that `ROW_COLUMNS` selected. */
export function rowOf(values: RowValues): Row {
  return { id: values[0], seq: values[1], rev: values[2], entered: values[3], doc: wholeText(values[4]) };
}

/**
 * A row's text as it was written. SQLite does not notice that the last page of a long text is damaged; one that begins as an object then does not end as one.
 * @throws SQLite's own error of damage.
 */
function wholeText(text: string): string {
  if (text.charCodeAt(0) !== 0x7b || text.charCodeAt(text.length - 1) === 0x7d) return text;
  throw Object.assign(new Error('a row has a beginning and no end'), { errcode: CORRUPT });
}
