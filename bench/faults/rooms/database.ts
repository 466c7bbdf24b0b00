/** What the house keeps, in SQLite: rooms, bookings, guests, keys, what was answered to an idempotency key, and events. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Switches } from '../fault.ts';
import type { RoomsFault } from './faults.ts';

export type TableName = 'room' | 'booking' | 'guest' | 'key';

/** A row as it is answered: no nulls, lists and objects as such. */
export type Row = Record<string, unknown>;

export interface Database {
  readonly sql: DatabaseSync;
  find(table: TableName, id: string | number): Row | undefined;
  all(table: TableName, where: string, values: readonly SQLInputValue[], rest?: string): Row[];
  count(table: TableName, where: string, values: readonly SQLInputValue[]): number;
  insert(table: TableName, row: Row): Row;
  /** Puts a row in the place of the one with its identifier; what it does not have becomes null. */
  put(table: TableName, row: Row): void;
  remove(table: TableName, id: string | number): void;
  /** All of it or nothing. */
  transaction<T>(body: () => T): T;
}

const columns: Readonly<Record<TableName, readonly string[]>> = {
  room: ['id', 'name', 'floor', 'seats', 'rate', 'kind', 'equipment', 'remark', 'opened_on', 'added_by', 'changed_at'],
  booking: [
    ...['id', 'room', 'member', 'title', 'day', 'hour', 'hours', 'people', 'contact', 'colour', 'pin', 'status', 'price'],
    ...['reason', 'confirmed_at', 'created_at', 'changed_at'],
  ],
  guest: ['id', 'booking', 'name', 'email', 'vip', 'added_at'],
  key: ['number', 'booking', 'label', 'code'],
};
const identifiers: Readonly<Record<TableName, string>> = { room: 'id', booking: 'id', guest: 'id', key: 'number' };
const numbered = new Set<TableName>(['room', 'key']);
const structured = new Set(['equipment', 'contact']);

export function openDatabase(faults: Switches<RoomsFault>): Database {
  const sql = new DatabaseSync(':memory:');
  sql.function('fold', { deterministic: true }, (text) => String(text).toLowerCase());
  // Without AUTOINCREMENT, SQLite gives the number of a deleted last row again.
  const serial = faults.has('number-given-again') ? 'INTEGER PRIMARY KEY' : 'INTEGER PRIMARY KEY AUTOINCREMENT';
  for (const [table, names] of Object.entries(columns)) {
    // Of the tables above.
    const known = table as TableName;
    const first = numbered.has(known)
      ? `${identifiers[known]} ${serial}`
      : 'seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE';
    sql.exec(`CREATE TABLE "${table}" (${[first, ...names.filter((name) => name !== identifiers[known])].join(', ')})`);
  }
  sql.exec('CREATE INDEX guest_of ON guest (booking); CREATE INDEX booking_of ON booking (room, day, hour)');
  const of = (table: TableName): string => `"${table}"`;
  const id = (table: TableName): string => identifiers[table];
  return {
    sql,
    find(table, value) {
      const row = sql.prepare(`SELECT ${columns[table].join(', ')} FROM ${of(table)} WHERE ${id(table)} = ?`).get(value);
      return row && read(row);
    },
    all: (table, where, values, rest = '') =>
      sql
        .prepare(`SELECT ${columns[table].join(', ')} FROM ${of(table)} WHERE ${where} ${rest}`)
        .all(...values)
        .map(read),
    count: (table, where, values) =>
      Number(sql.prepare(`SELECT count(*) AS n FROM ${of(table)} WHERE ${where}`).get(...values)?.n),
    insert(table, row) {
      const names = columns[table].filter((name) => row[name] !== undefined);
      const marks = names.map(() => '?').join(', ');
      const statement = sql.prepare(`INSERT INTO ${of(table)} (${names.join(', ')}) VALUES (${marks})`);
      const { lastInsertRowid } = statement.run(...names.map((name) => written(row[name])));
      return numbered.has(table) ? { [id(table)]: Number(lastInsertRowid), ...row } : row;
    },
    put(table, row) {
      const names = columns[table].filter((name) => name !== id(table));
      const set = names.map((name) => `${name} = ?`).join(', ');
      sql
        .prepare(`UPDATE ${of(table)} SET ${set} WHERE ${id(table)} = ?`)
        .run(...names.map((name) => written(row[name])), written(row[id(table)]));
    },
    remove: (table, value) => void sql.prepare(`DELETE FROM ${of(table)} WHERE ${id(table)} = ?`).run(value),
    transaction(body) {
      sql.exec('BEGIN');
      try {
        const result = body();
        sql.exec('COMMIT');
        return result;
      } catch (error) {
        sql.exec('ROLLBACK');
        throw error;
      }
    },
  };
}

function read(row: Record<string, unknown>): Row {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => {
      if (value === null) return [];
      if (structured.has(name)) return [[name, JSON.parse(String(value))]];
      return [[name, name === 'vip' ? value === 1 : value]];
    }),
  );
}

function written(value: unknown): SQLInputValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'object') return JSON.stringify(value);
  return typeof value === 'number' ? value : String(value);
}
