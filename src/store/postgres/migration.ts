import type { Migration, StoredTable } from '../maintenance.ts';
import type { ColumnSpec, Row, Scalar, TableSpec } from '../store.ts';
import { bareSql, type Connection, type Sql } from './connection.ts';
import {
  arrayText,
  quoteName,
  read,
  readScalar,
  type StoreNames,
  shapeOf,
  sqlTypes,
  type TableShape,
  valueText,
  written,
} from './dialect.ts';
import { createIndexes, dropIndexes, foundBy, indexesOf, once, type SchemaChange } from './indexes.ts';

const ROWS_AT_ONCE = 500;

/** Brings one table up to its spec, inside a transaction of the caller's. */
async function bringTableUp(means: SchemaChange, spec: TableSpec): Promise<Migration> {
  const { names, renewal } = means;
  const before = await knownColumns(means, spec.name);
  const isRenewed = before !== undefined && renewal.rows?.has(spec.name) === true;
  const ready = isRenewed ? undefined : means.ready.get(spec.name);
  const stale = staleColumns(before, spec);
  const unfilled = stale.filter((at) => !ready?.filled.has(at));
  const added = before ? await addColumns(means, spec) : await createTable(means, spec);
  const shape = shapeOf(names, spec);
  const indexes = indexesOf(names, spec, shape);
  // The values of all columns may become others.
  await dropIndexes(means, spec, shape, indexes, isRenewed ? spec.columns.map((_, index) => index) : unfilled);
  const done =
    before && (isRenewed || stale.length > 0)
      ? await goThrough(means, spec, shape, stale, unfilled.length > 0 ? undefined : ready?.revision)
      : { refilled: 0, renewed: 0 };
  await createIndexes(means, spec, shape, indexes);
  const columns = spec.columns.map(definition);
  if (JSON.stringify(before) !== JSON.stringify(columns)) {
    means.changed();
    await means.connection.send([
      once(
        `INSERT INTO ${names.own('tables')} (name, columns) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET columns = excluded.columns`,
        written(spec.name),
        JSON.stringify(columns),
      ),
    ]);
  }
  return { added, ...done };
}

/** Brings all tables up, those first that are called otherwise or go, inside a transaction of the caller's. */
export async function bringTablesUp(means: SchemaChange, tables: readonly TableSpec[]): Promise<Migration> {
  for (const { from, to } of means.renewal.renamed ?? []) await renameStored(means, from, to);
  for (const name of means.renewal.dropped ?? []) await dropStored(means, name);
  const done: Migration[] = [];
  for (const table of tables) done.push(await bringTableUp(means, table));
  return {
    added: done.flatMap(({ added }) => added),
    refilled: done.reduce((sum, { refilled }) => sum + refilled, 0),
    renewed: done.reduce((sum, { renewed }) => sum + renewed, 0),
  };
}

/** Places of the columns that stored rows have no values of, or others. */
export function staleColumns(before: readonly string[] | undefined, spec: TableSpec): number[] {
  return spec.columns.flatMap((column, at) => (before?.includes(definition(column)) ? [] : [at]));
}

/** Has a table called otherwise from now on, with all that is kept by its name. Its indexes are made anew. */
async function renameStored(means: SchemaChange, from: string, to: string): Promise<void> {
  const { connection, names } = means;
  if (!(await knownColumns(means, from))) return;
  if (await knownColumns(means, to)) {
    const beside = await tablesWithRows(connection, names, []);
    if (beside.some(({ name }) => name === to)) throw new Error(`${to} has rows already`);
    await dropStored(means, to);
  }
  means.changed();
  await connection.send([
    once(`ALTER TABLE ${names.rows(from)} RENAME TO ${quoteName(names.bareRows(to))}`),
    ...namedAfterTables.map(([table, column]) =>
      once(`UPDATE ${names.own(table)} SET ${column} = $2 WHERE ${column} = $1`, written(from), written(to)),
    ),
  ]);
}

/** Takes a table away, with all that is kept by its name but the events that told of its rows. */
async function dropStored({ connection, names, changed }: SchemaChange, name: string): Promise<void> {
  changed();
  await connection.send([
    once(`DROP TABLE IF EXISTS ${names.rows(name)}`),
    ...namedAfterTables
      .filter(([table]) => table !== 'events')
      .map(([table, column]) => once(`DELETE FROM ${names.own(table)} WHERE ${column} = $1`, written(name))),
  ]);
}

const namedAfterTables = [
  ['tables', 'name'],
  ['timers', 'resource'],
  ['sequences', 'name'],
  ['events', 'resource'],
] as const;

/** Counting more would take longer than whoever asks wants to wait. */
const COUNTED_MOST = 100_000;

/** All tables that were ever prepared. */
export async function tableNames(connection: Connection, names: StoreNames): Promise<string[]> {
  const [found = []] = await connection.send([bareSql(`SELECT name FROM ${names.own('tables')} ORDER BY name`)]);
  return found.map(([name]) => read(String(name)));
}

/** The tables with rows, but for these. */
export async function tablesWithRows(
  connection: Connection,
  names: StoreNames,
  known: readonly string[],
): Promise<StoredTable[]> {
  const others = (await tableNames(connection, names)).filter((name) => !known.includes(name));
  const counts = await connection.send(
    others.map((name) => once(`SELECT count(*) FROM (SELECT 1 FROM ${names.rows(name)} LIMIT ${COUNTED_MOST}) AS counted`)),
  );
  return others.flatMap((name, index) => {
    const count = Number(counts[index]?.[0]?.[0] ?? 0);
    return count === 0 ? [] : [{ name, count }];
  });
}

/** The columns that rows of the table were last written with. */
export async function knownColumns(
  means: Pick<SchemaChange, 'connection' | 'names'>,
  table: string,
): Promise<string[] | undefined> {
  const [found] = await foundBy(means, {
    text: `SELECT columns FROM ${means.names.own('tables')} WHERE name = $1`,
    values: [written(table)],
  });
  // What is kept there was written by `bringTableUp`.
  return found && (JSON.parse(String(found[0])) as string[]);
}

function definition(column: ColumnSpec): string {
  return JSON.stringify([column.name, column.type, column.made ?? null]);
}

function columnSql(shape: TableShape, at: number): string {
  const { sql, type } = shape.stated[at]!;
  return `${sql} ${sqlTypes[type]}${type === 'text' ? ' COLLATE "C"' : ''}`;
}

async function createTable({ connection, names, changed }: SchemaChange, spec: TableSpec): Promise<string[]> {
  changed();
  const shape = shapeOf(names, spec);
  const columns = spec.columns.map((_, at) => `, ${columnSql(shape, at)}`).join('');
  await connection.send([
    once(`CREATE TABLE ${shape.sql} (seq int8 PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE,
      rev int8 NOT NULL, entered int8 NOT NULL, doc text NOT NULL${columns})`),
  ]);
  return [spec.name];
}

export async function addColumns(
  means: Pick<SchemaChange, 'connection' | 'names' | 'changed'>,
  spec: TableSpec,
): Promise<string[]> {
  const { names, connection, changed } = means;
  const shape = shapeOf(names, spec);
  const found = await foundBy(means, {
    text: 'SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped',
    values: [shape.sql],
  });
  const there = new Set(found.map(([name]) => quoteName(String(name))));
  const missing = spec.columns.flatMap((_, at) => (there.has(shape.stated[at]!.sql) ? [] : [at]));
  if (missing.length === 0) return [];
  changed();
  const adding = missing.map((at) => `ADD COLUMN ${columnSql(shape, at)}`).join(', ');
  await connection.send([once(`ALTER TABLE ${shape.sql} ${adding}`)]);
  return missing.map((at) => `${spec.name}.${spec.columns[at]!.name}`);
}

/** Goes through all rows, or those of a later revision: those that become others are written anew, in the others stale columns are filled. */
async function goThrough(
  means: SchemaChange,
  spec: TableSpec,
  shape: TableShape,
  stale: readonly number[],
  sinceRevision?: number,
): Promise<{ refilled: number; renewed: number }> {
  const { connection, columnsOf, renewal, nextRevision } = means;
  const renew = renewal.rows?.get(spec.name);
  const all = [...shape.stated.keys()];
  let refilled = 0;
  let renewed = 0;
  // Those that are written anew get a higher revision, so that both ways each is met once.
  const [way, first] = sinceRevision === undefined ? ['seq', -1] : ['rev', sinceRevision];
  for (let after = first, done = 0; ; ) {
    const found = await foundBy(means, {
      text: `SELECT seq, id, rev, entered, doc FROM ${shape.sql} WHERE ${way} > $1::int8 ORDER BY ${way} LIMIT ${ROWS_AT_ONCE}`,
      values: [String(after)],
    });
    const [changed, filled]: [Changed[], Changed[]] = [[], []];
    for (const values of found) {
      // The columns are those that are selected above.
      const [seq, id, rev, entered, doc] = values as [number, string, number, number, string];
      const row: Row = { id: String(readScalar(id)), seq, rev, entered, doc };
      after = way === 'seq' ? seq : rev;
      const next = renew?.(row);
      if (next) changed.push({ seq, rev: nextRevision(), doc: next.doc, columns: next.columns });
      else if (stale.length > 0) filled.push({ seq, rev, doc, columns: columnsOf(spec.name, row) });
    }
    renewed += changed.length;
    refilled += filled.length;
    const statements = [
      ...(changed.length > 0 ? [updateSql(shape, changed, all, true)] : []),
      ...(filled.length > 0 ? [updateSql(shape, filled, stale, false)] : []),
    ];
    if (statements.length > 0) await connection.send(statements);
    done += found.length;
    renewal.progress?.(spec.name, done);
    if (found.length < ROWS_AT_ONCE) return { refilled, renewed };
  }
}

export interface Changed {
  readonly seq: number;
  readonly rev: number;
  readonly doc: string;
  readonly columns: readonly Scalar[];
}

export function updateSql(shape: TableShape, rows: readonly Changed[], columns: readonly number[], isWhole: boolean): Sql {
  const stated = columns.map((at) => ({
    ...shape.stated[at]!,
    values: arrayText(rows.map((row) => valueText(row.columns[at] ?? null))),
  }));
  const parts = [
    { sql: 'seq', type: 'int8', values: arrayText(rows.map(({ seq }) => seq)) },
    ...(isWhole
      ? [
          { sql: 'rev', type: 'int8', values: arrayText(rows.map(({ rev }) => rev)) },
          { sql: 'doc', type: 'text', values: arrayText(rows.map(({ doc }) => doc)) },
        ]
      : []),
    ...stated.map(({ sql, type, values }) => ({ sql, type: sqlTypes[type], values })),
  ];
  return {
    text: `UPDATE ${shape.sql} AS t SET ${parts
      .slice(1)
      .map(({ sql }) => `${sql} = i.${sql}`)
      .join(', ')}
      FROM unnest(${parts.map(({ type }, at) => `$${at + 1}::${type}[]`).join(', ')}) AS i(${parts.map(({ sql }) => sql).join(', ')})
      WHERE t.seq = i.seq`,
    values: parts.map(({ values }) => values),
  };
}
