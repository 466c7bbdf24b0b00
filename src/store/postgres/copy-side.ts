import { CannotCopy, type CopiedTable, type CopySide } from '../copying.ts';
import type { Scalar } from '../store.ts';
import { bareSql, type Connection, readAddress } from './connection.ts';
import { arrayText, quoteName, read, StoreNames, sqlTypes, valueText } from './dialect.ts';
import { once } from './indexes.ts';
import { bringTablesUp, tableNames } from './migration.ts';
import { bringStoreUp } from './schema.ts';
import { pgServer } from './server.ts';

/** A schema as a copy sees it: nobody changes anything meanwhile. @throws {CannotCopy} where processes serve it. */
export async function postgresSide(address: string): Promise<CopySide> {
  const { url, name, settings } = readAddress(address);
  const server = pgServer(url, name, settings);
  try {
    const connection = await server.connect('anything');
    const names = new StoreNames(settings.schema);
    await bringStoreUp(connection, names);
    const [, , [[busy] = []] = []] = await connection.send([
      bareSql('BEGIN'),
      bareSql(`SELECT last FROM ${names.own('store')} FOR UPDATE`),
      bareSql(`SELECT count(*) FROM ${names.own('leases')} WHERE expires > extract(epoch FROM clock_timestamp()) * 1000`),
    ]);
    if (Number(busy) > 0) throw new CannotCopy(`${name} is served by processes; stop them first`);
    return sideOver(connection, names, name, () => server.close());
  } catch (error) {
    await server.close();
    throw error;
  }
}

function sideOver(connection: Connection, names: StoreNames, name: string, close: () => Promise<void>): CopySide {
  const tableOf = (table: CopiedTable) => (table.isOfRows ? names.rows(table.name) : names.own(table.name));
  const columnsOf = ({ columns }: CopiedTable) => columns.map(([column]) => quoteName(column));
  return {
    name,
    resources: () => tableNames(connection, names),
    async page(table, after, most) {
      const columns = columnsOf(table);
      const keys = columns.slice(0, table.keys);
      const placed = keys.map((_, at) => `$${at + 1}::${sqlTypes[table.columns[at]![1]]}`);
      const where = after === undefined ? '' : `WHERE (${keys}) > (${placed})`;
      const text = `SELECT ${columns} FROM ${tableOf(table)} ${where} ORDER BY ${keys} LIMIT ${most}`;
      const [found = []] = await connection.send([{ text, values: (after ?? []).map(valueText) }]);
      // The driver gives numbers, texts and nulls for the types of columns.
      return found.map((row) => row.map((value) => (typeof value === 'string' ? read(value) : value) as Scalar));
    },
    async make(resource) {
      const means = {
        connection,
        names,
        columnsOf: () => [],
        renewal: {},
        ready: new Map(),
        nextRevision: () => 0,
        changed: () => {},
      };
      await bringTablesUp(means, [{ name: resource, columns: [], unique: [], indexes: [] }]);
    },
    async add(table, rows) {
      const lists = table.columns.map(([, type], at) => `$${at + 1}::${sqlTypes[type]}[]`);
      const text = `INSERT INTO ${tableOf(table)} (${columnsOf(table)}) SELECT * FROM unnest(${lists})`;
      const values = table.columns.map((_, at) => arrayText(rows.map((row) => valueText(row[at] ?? null))));
      await connection.send([{ text, values }]);
    },
    async commit(highest) {
      const marks = ['last', 'events', 'credentials', 'subscribers', 'timers'].map(
        (mark) => `${mark} = greatest(last, $1::int8)`,
      );
      const settle = once(`UPDATE ${names.own('store')} SET ${marks}, generation = generation + 1`, String(highest));
      await connection.send([settle, bareSql('COMMIT')]);
    },
    async close() {
      if (!connection.isLost) await connection.send([bareSql('ROLLBACK')]).catch(() => {});
      await close();
    },
  };
}
