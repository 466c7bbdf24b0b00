/** What changing tables needs, and the indexes of a table. */

import { Duplicates } from '../failures.ts';
import type { Renewal, Row, Scalar, TableSpec } from '../store.ts';
import { bareSql, type Connection, DatabaseError, type FoundValues, type Sql } from './connection.ts';
import { quoteName, read, type StoreNames, type TableShape } from './dialect.ts';

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

/** An index, and what makes it. */
export interface TableIndex {
  readonly name: string;
  readonly make: string;
  /** The same while others go on writing, outside of any transaction; absent where that cannot be. */
  readonly makeOnline?: string;
  readonly columns: readonly string[];
  /** The column of which the index makes values unique. */
  readonly unique?: string;
}

/** The indexes that a table is to have. */
export function indexesOf(names: StoreNames, spec: TableSpec, shape: TableShape): TableIndex[] {
  const unique = spec.unique.map((column) => {
    const { sql } = shape.column(column);
    const name = quoteName(names.index('unique', spec.name, sql));
    // Looked at when a statement is done, so that values can change places by one.
    return {
      name,
      make: `ALTER TABLE ${shape.sql} ADD CONSTRAINT ${name} UNIQUE (${sql})${names.isPlain ? '' : ' DEFERRABLE'}`,
      columns: [sql],
      unique: column,
    };
  });
  const others = spec.indexes.map((list) => {
    const columns = list.map((entry) => shape.column(typeof entry === 'string' ? entry : entry.column).sql);
    const parts = list.map((entry, at) => {
      const isDescending = typeof entry !== 'string' && entry.descending;
      return `${columns[at]} ${isDescending ? 'DESC NULLS LAST' : 'NULLS FIRST'}`;
    });
    const on = [...parts, 'seq'].join(', ');
    const name = quoteName(names.index('index', spec.name, on));
    const made = `${name} ON ${shape.sql} (${on})`;
    const makeOnline = names.isPlain ? {} : { makeOnline: `CREATE INDEX CONCURRENTLY ${made}` };
    return { name, make: `CREATE INDEX ${made}`, ...makeOnline, columns };
  });
  return [...new Map([...unique, ...others].map((index) => [index.name, index])).values()];
}

/** What there is of indexes; one is not valid whose making was broken off. */
export async function knownIndexes(
  means: Pick<SchemaChange, 'connection'>,
  shape: TableShape,
): Promise<{ readonly name: string; readonly isUnique: boolean; readonly isValid: boolean }[]> {
  const found = await foundBy(means, {
    text: `SELECT c.relname, i.indisunique, i.indisvalid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
      WHERE i.indrelid = $1::regclass AND (c.relname LIKE 'unique:%' OR c.relname LIKE 'index:%')`,
    values: [shape.sql],
  });
  return found.map(([name, isUnique, isValid]) => ({
    name: quoteName(String(name)),
    isUnique: isUnique === true,
    isValid: isValid === true,
  }));
}

/** Indexes hold no data of their own: those not asked for go, and those of refilled columns are made again after it. */
export async function dropIndexes(
  means: SchemaChange,
  spec: TableSpec,
  shape: TableShape,
  wanted: readonly TableIndex[],
  stale: readonly number[],
): Promise<void> {
  const changed = stale.map((at) => shape.stated[at]!.sql);
  const kept = new Set(wanted.filter(({ columns }) => !columns.some((sql) => changed.includes(sql))).map(({ name }) => name));
  const gone = (await knownIndexes(means, shape)).filter(({ name, isValid }) => !kept.has(name) || !isValid);
  if (gone.length === 0) return;
  means.changed();
  const schema = quoteName(means.names.schema);
  await means.connection.send(
    gone.map(({ name, isUnique }) =>
      once(isUnique ? `ALTER TABLE ${means.names.rows(spec.name)} DROP CONSTRAINT ${name}` : `DROP INDEX ${schema}.${name}`),
    ),
  );
}

/** Makes those that are not there. @throws {Duplicates} */
export async function createIndexes(
  means: SchemaChange,
  spec: TableSpec,
  shape: TableShape,
  indexes: readonly TableIndex[],
): Promise<void> {
  const there = new Set((await knownIndexes(means, shape)).map(({ name }) => name));
  for (const { name, make, unique } of indexes) {
    if (there.has(name)) continue;
    means.changed();
    try {
      await means.connection.send([bareSql('SAVEPOINT making'), once(make), bareSql('RELEASE making')]);
    } catch (error) {
      if (unique === undefined || !(error instanceof DatabaseError) || error.state !== UNIQUE_BROKEN) throw error;
      await means.connection.send([bareSql('ROLLBACK TO making')]);
      throw await duplicatesOf(means, spec, shape, unique);
    }
  }
}

const UNIQUE_BROKEN = '23505';
const EXAMPLES_MOST = 3;

async function duplicatesOf(means: SchemaChange, spec: TableSpec, shape: TableShape, column: string): Promise<Duplicates> {
  const { sql } = shape.column(column);
  const several = `SELECT ${sql} AS value, min(seq) AS first FROM ${shape.sql} WHERE ${sql} IS NOT NULL GROUP BY ${sql} HAVING count(*) > 1`;
  const [[count] = []] = await means.connection.send([once(`SELECT count(*) FROM (${several}) AS several`)]);
  const found = await foundBy(
    means,
    once(`SELECT (SELECT array_to_json((array_agg(t.id ORDER BY t.seq))[1:${EXAMPLES_MOST}])::text FROM ${shape.sql} AS t WHERE t.${sql} = several.value)
      FROM (${several} ORDER BY 2 LIMIT ${EXAMPLES_MOST}) AS several ORDER BY several.first`),
  );
  const examples = found.map(([ids]) => (JSON.parse(String(ids)) as string[]).map(read));
  return new Duplicates(spec.name, column, Number(count?.[0] ?? 0), examples);
}
