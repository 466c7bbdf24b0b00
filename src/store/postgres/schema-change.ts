import type { Renewal, Row, Scalar } from '../store.ts';
import type { Connection, FoundValues, Sql } from './connection.ts';
import type { StoreNames } from './names.ts';

/** How column values of a stored row are made. */
export type PostgresColumnsOf = (table: string, row: Row) => readonly Scalar[];

/** What bringing tables up needs. */
export interface SchemaChange {
  readonly connection: Connection;
  readonly names: StoreNames;
  readonly columnsOf: PostgresColumnsOf;
  readonly renewal: Renewal;
  readonly nextRevision: () => number;
  /** What was done of a table before, while others went on writing. */
  readonly ready: ReadonlyMap<string, ReadyTable>;
  /** Told whenever a table is made, changed or taken away. */
  readonly changed: () => void;
}

/** What of a table is filled already. */
export interface ReadyTable {
  /** Places of columns that hold the values of all rows with this revision or an earlier one. */
  readonly filled: ReadonlySet<number>;
  readonly revision: number;
}

/** A statement that hardly comes again. */
export function once(text: string, ...values: string[]): Sql {
  return { text, values, isOnce: true };
}

/** What one statement finds. */
export async function foundBy({ connection }: Pick<SchemaChange, 'connection'>, sql: Sql): Promise<readonly FoundValues[]> {
  const [found = []] = await connection.send([sql]);
  return found;
}
