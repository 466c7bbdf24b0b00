import type { DatabaseSync } from 'node:sqlite';
import { Duplicates } from '../failures.ts';
import type { Migration, StoredTable } from '../maintenance.ts';
import type { ColumnSpec, IndexColumn, Renewal, Row, Scalar, TableSpec } from '../store.ts';
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

/** What bringing tables up needs. */
export interface MigrationMeans {
  readonly database: DatabaseSync;
  readonly columnsOf: ColumnsOf;
  readonly renewal: Renewal;
  readonly nextRevision: () => number;
}

/** Brings one table up to its spec, inside a transaction of the caller's. */
export function migrateTable(means: MigrationMeans, spec: TableSpec): Migration {
  const { database, renewal } = means;
  const before = knownColumns(database, spec.name);
  const isRenewed = before !== undefined && renewal.rows?.has(spec.name) === true;
  const stale = spec.columns.flatMap((column, index) => (before?.includes(definition(column)) ? [] : [index]));
  const added = before ? addColumns(database, spec) : createTable(database, spec);
  const indexes = indexesOf(database, spec);
  // The values of all columns may become others.
  dropIndexes(database, spec, indexes, isRenewed ? spec.columns.map((_, index) => index) : stale);
  const done = before && (isRenewed || stale.length > 0) ? goThrough(means, spec, stale) : { refilled: 0, renewed: 0 };
  for (const index of indexes) createIndex(database, spec, index);
  database
    .prepare('INSERT OR REPLACE INTO ninefold_tables (name, columns) VALUES (?, ?)')
    .run(spec.name, JSON.stringify(spec.columns.map(definition)));
  return { added, ...done };
}

/** Has a table called otherwise from now on, with all that is kept by its name. Its indexes are made anew. */
export function renameTable(database: DatabaseSync, from: string, to: string): void {
  const known = knownColumns(database, from);
  if (!known) return;
  if (knownColumns(database, to)) {
    if (storedTables(database, []).some(({ name }) => name === to)) throw new Error(`${to} has rows already`);
    dropTable(database, to);
  }
  database.exec(`ALTER TABLE ${quote(rowsTable(from))} RENAME TO ${quote(rowsTable(to))}`);
  for (const [table, column] of namedAfterTables)
    statement(database, `UPDATE ${table} SET ${column} = ?2 WHERE ${column} = ?1`).get(from, to);
}

/** Takes a table away, with all that is kept by its name but the events that told of its rows. */
export function dropTable(database: DatabaseSync, name: string): void {
  database.exec(`DROP TABLE IF EXISTS ${quote(rowsTable(name))}`);
  for (const [table, column] of namedAfterTables)
    if (table !== 'ninefold_events') statement(database, `DELETE FROM ${table} WHERE ${column} = ?`).get(name);
}

const namedAfterTables = [
  ['ninefold_tables', 'name'],
  ['ninefold_timers', 'resource'],
  ['ninefold_sequences', 'name'],
  ['ninefold_events', 'resource'],
] as const;

/** Counting more would take longer than whoever asks wants to wait. */
const COUNTED_MOST = 100_000;

/** The tables with rows, but for these. */
export function storedTables(database: DatabaseSync, known: readonly string[]): StoredTable[] {
  return statement<[string]>(database, 'SELECT name FROM ninefold_tables ORDER BY name')
    .all()
    .flatMap(([name]) => {
      if (known.includes(name)) return [];
      const count =
        statement<[number]>(
          database,
          `SELECT count(*) FROM (SELECT 1 FROM ${quote(rowsTable(name))} LIMIT ${COUNTED_MOST})`,
        ).get()?.[0] ?? 0;
      return count === 0 ? [] : [{ name, count }];
    });
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
    if (errorNumber(error) === UNIQUE_BROKEN && index.unique !== undefined) throw duplicatesOf(database, spec, index.unique);
    throw error;
  }
}

const EXAMPLES_MOST = 3;

function duplicatesOf(database: DatabaseSync, spec: TableSpec, column: string): Duplicates {
  const rows = new TableRows(database, spec);
  const { sql } = rows.column(column);
  const several = `SELECT ${sql} FROM ${rows.sql} WHERE ${sql} IS NOT NULL GROUP BY ${sql} HAVING count(*) > 1`;
  const count = statement<[number]>(database, `SELECT count(*) FROM (${several})`).get()?.[0] ?? 0;
  const holders = statement<[string]>(
    database,
    `SELECT id FROM ${rows.sql} WHERE ${sql} = ? ORDER BY seq LIMIT ${EXAMPLES_MOST}`,
  );
  const values = statement<[Scalar]>(database, `${several} LIMIT ${EXAMPLES_MOST}`).all();
  return new Duplicates(
    spec.name,
    column,
    count,
    values.map(([value]) => holders.all(value).map(([id]) => id)),
  );
}

/** Goes through all rows: those that become others are written anew, in the others stale columns are filled. */
function goThrough(means: MigrationMeans, spec: TableSpec, stale: readonly number[]): { refilled: number; renewed: number } {
  const { database, columnsOf, renewal, nextRevision } = means;
  const table = quote(rowsTable(spec.name));
  const page = statement<RowValues>(
    database,
    `SELECT ${ROW_COLUMNS.join(', ')} FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const columnsAt = (indexes: readonly number[]) =>
    indexes.map((index) => `${quote(rowsColumn(spec.columns[index]!.name, spec.columns[index]!.type))} = ?`);
  const set = (columns: readonly string[]) => statement(database, `UPDATE ${table} SET ${columns.join(', ')} WHERE seq = ?`);
  const fill = stale.length > 0 ? set(columnsAt(stale)) : undefined;
  const renew = renewal.rows?.get(spec.name);
  const write = renew && set(['rev = ?', 'doc = ?', ...columnsAt([...spec.columns.keys()])]);
  let refilled = 0;
  let renewed = 0;
  for (let after = -1, done = 0; ; ) {
    const rows = page.all(after, ROWS_AT_ONCE).map(rowOf);
    for (const row of rows) {
      after = row.seq;
      const next = renew?.(row);
      if (next) {
        write?.get(nextRevision(), next.doc, ...next.columns, row.seq);
        renewed += 1;
      } else if (fill) {
        const values = columnsOf(spec.name, row);
        fill.get(...stale.map((index) => values[index]!), row.seq);
        refilled += 1;
      }
    }
    done += rows.length;
    renewal.progress?.(spec.name, done);
    if (rows.length < ROWS_AT_ONCE) return { refilled, renewed };
  }
}
