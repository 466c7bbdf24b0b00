import type { DatabaseSync } from 'node:sqlite';
import { type ColumnSpec, Duplicate, type IndexColumn, type Migration, type Row, type Scalar, type TableSpec } from '../store.ts';
import { ROW_COLUMNS, type RowValues, rowOf, TableRows } from './rows.ts';
import { encodeName, errorNumber, quote, rowsColumn, rowsTable, statement, UNIQUE_BROKEN } from './statement.ts';

const ROWS_AT_ONCE = 500;
const SQL_TYPES = { integer: 'INTEGER', real: 'REAL', text: 'TEXT' } as const;

/** How column values of a stored row are made. */
export type ColumnsOf = (table: string, row: Row) => readonly Scalar[];

interface Index {
  readonly name: string;
  readonly sql: string;
  /** The column of which the index makes values unique. */
  readonly unique?: string;
}

/** Brings one table up to its spec, inside a transaction of the caller's. */
export function migrateTable(database: DatabaseSync, spec: TableSpec, columnsOf: ColumnsOf): Migration {
  const before = knownColumns(database, spec.name);
  const stale = spec.columns.flatMap((column, index) => (before?.includes(definition(column)) ? [] : [index]));
  const added = before ? addColumns(database, spec) : createTable(database, spec);
  const indexes = indexesOf(database, spec);
  dropIndexes(database, spec, indexes, stale);
  const refilled = before && stale.length > 0 ? refill(database, spec, stale, columnsOf) : 0;
  for (const index of indexes) createIndex(database, spec, index);
  database
    .prepare('INSERT OR REPLACE INTO ninefold_tables (name, columns) VALUES (?, ?)')
    .run(spec.name, JSON.stringify(spec.columns.map(definition)));
  return { added, refilled };
}

/** The columns that rows of the table were last written with. */
function knownColumns(database: DatabaseSync, table: string): string[] | undefined {
  const found = statement<[string]>(database, 'SELECT columns FROM ninefold_tables WHERE name = ?').get(table);
  return found && JSON.parse(found[0]);
}

function definition(column: ColumnSpec): string {
  return JSON.stringify([column.name, column.type, column.made ?? null]);
}

function columnSql({ name, type }: ColumnSpec): string {
  return `${quote(rowsColumn(name, type))} ${SQL_TYPES[type]}`;
}

function createTable(database: DatabaseSync, spec: TableSpec): string[] {
  const columns = spec.columns.map((column) => `, ${columnSql(column)}`).join('');
  database.exec(`CREATE TABLE ${quote(rowsTable(spec.name))} (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    rev INTEGER NOT NULL, entered INTEGER NOT NULL, doc TEXT NOT NULL${columns})`);
  return [spec.name];
}

function addColumns(database: DatabaseSync, spec: TableSpec): string[] {
  const table = rowsTable(spec.name);
  const there = new Set(
    statement<[string]>(database, 'SELECT name FROM pragma_table_info(?)')
      .all(table)
      .map(([name]) => name),
  );
  const missing = spec.columns.filter(({ name, type }) => !there.has(rowsColumn(name, type)));
  for (const column of missing) database.exec(`ALTER TABLE ${quote(table)} ADD COLUMN ${columnSql(column)}`);
  return missing.map(({ name }) => `${spec.name}.${name}`);
}

function indexesOf(database: DatabaseSync, spec: TableSpec): Index[] {
  const rows = new TableRows(database, spec);
  const on = (kind: 'unique' | 'index', columns: readonly IndexColumn[]): Index => {
    const list = columns.map((entry) => {
      if (typeof entry === 'string') return rows.column(entry).sql;
      return `${rows.column(entry.column).sql}${entry.descending ? ' DESC' : ''}`;
    });
    const name = quote(`${kind}:${encodeName(spec.name)}:${list.join(',')}`);
    const sql = `CREATE ${kind === 'unique' ? 'UNIQUE INDEX' : 'INDEX'} IF NOT EXISTS ${name} ON ${rows.sql} (${list.join(', ')})`;
    return { name, sql };
  };
  return [
    ...spec.unique.map((column) => ({ ...on('unique', [column]), unique: column })),
    ...spec.indexes.map((columns) => on('index', columns)),
  ];
}

/** Indexes hold no data of their own: those not asked for go, and those of refilled columns are made again after it. */
function dropIndexes(database: DatabaseSync, spec: TableSpec, wanted: readonly Index[], stale: readonly number[]): void {
  const find = statement<[string]>(
    database,
    `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL`,
  );
  const changed = stale.map((index) => quote(rowsColumn(spec.columns[index]!.name, spec.columns[index]!.type)));
  for (const [found] of find.all(rowsTable(spec.name))) {
    const name = quote(found);
    const keep = wanted.some((index) => index.name === name && !changed.some((column) => index.sql.includes(column)));
    if (!keep) database.exec(`DROP INDEX ${name}`);
  }
}

function createIndex(database: DatabaseSync, spec: TableSpec, index: Index): void {
  try {
    database.exec(index.sql);
  } catch (error) {
    if (errorNumber(error) === UNIQUE_BROKEN && index.unique !== undefined) throw new Duplicate(spec.name, index.unique);
    throw error;
  }
}

function refill(database: DatabaseSync, spec: TableSpec, stale: readonly number[], columnsOf: ColumnsOf): number {
  const table = quote(rowsTable(spec.name));
  const page = statement<RowValues>(
    database,
    `SELECT ${ROW_COLUMNS.join(', ')} FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const set = stale.map((index) => `${quote(rowsColumn(spec.columns[index]!.name, spec.columns[index]!.type))} = ?`);
  const update = statement(database, `UPDATE ${table} SET ${set.join(', ')} WHERE seq = ?`);
  let refilled = 0;
  for (let after = -1; ; ) {
    const rows = page.all(after, ROWS_AT_ONCE).map(rowOf);
    for (const row of rows) {
      const values = columnsOf(spec.name, row);
      update.get(...stale.map((index) => values[index]!), row.seq);
      after = row.seq;
    }
    refilled += rows.length;
    if (rows.length < ROWS_AT_ONCE) return refilled;
  }
}
