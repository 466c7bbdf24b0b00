import type { CopiedTable, CopySide } from '../copying.ts';
import type { Scalar } from '../store.ts';
import { migrateTable } from './migration.ts';
import { openDatabase } from './open.ts';
import { quote, rowsTable, statement } from './statement.ts';

/** A file as a copy sees it. @throws {Locked} where another process has it. */
export function sqliteSide(path: string): CopySide {
  const { database, release } = openDatabase(path, { lockMs: 200 });
  database.exec('BEGIN IMMEDIATE');
  const nameOf = ({ name, isOfRows }: CopiedTable) => quote(isOfRows ? rowsTable(name) : `ninefold_${name}`);
  const columnsOf = ({ columns }: CopiedTable) => columns.map(([name]) => quote(name));
  return {
    name: path,
    async resources() {
      return statement<[name: string]>(database, 'SELECT name FROM ninefold_tables ORDER BY name')
        .all()
        .map(([name]) => name);
    },
    async page(table, after, most) {
      const columns = columnsOf(table);
      const keys = columns.slice(0, table.keys);
      const where = after === undefined ? '' : `WHERE (${keys}) > (${keys.map(() => '?')})`;
      const sql = `SELECT ${columns} FROM ${nameOf(table)} ${where} ORDER BY ${keys} LIMIT ?`;
      return statement<Scalar[]>(database, sql).all(...(after ?? []), most);
    },
    async make(resource) {
      const means = { database, columnsOf: () => [], renewal: {}, nextRevision: () => 0 };
      migrateTable(means, { name: resource, columns: [], unique: [], indexes: [] });
    },
    async add(table, rows) {
      const columns = columnsOf(table);
      const insert = statement(database, `INSERT INTO ${nameOf(table)} (${columns}) VALUES (${columns.map(() => '?')})`);
      for (const row of rows) insert.get(...row);
    },
    async commit(highest) {
      statement(database, 'UPDATE ninefold_revision SET reserved = max(reserved, ?)').get(highest);
      database.exec('COMMIT');
    },
    async close() {
      if (database.isTransaction) database.exec('ROLLBACK');
      database.close();
      release();
    },
  };
}
