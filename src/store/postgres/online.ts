import type { Renewal, Row, TableSpec } from '../store.ts';
import { bareSql, type Connection } from './connection.ts';
import { quoteName, readScalar, type StoreNames, shapeOf, type TableShape } from './dialect.ts';
import { foundBy, indexesOf, knownIndexes, once, type PostgresColumnsOf, type ReadyTable } from './indexes.ts';
import { addColumns, type Changed, knownColumns, staleColumns, updateSql } from './migration.ts';

/** With fewer rows, others hardly notice that they wait for the whole of it. */
const rowsLeast = 10_000;
const rowsAtOnce = 500;

export interface OnlineMeans {
  readonly connection: Connection;
  readonly names: StoreNames;
  readonly columnsOf: PostgresColumnsOf;
  readonly renewal: Renewal;
}

/**
 * What takes long of bringing large tables up, while all processes go on reading and writing: columns that nobody uses yet
 * are filled a page at a time, and indexes are made concurrently. What is left is for the transaction after it: rows that were written meanwhile, and
 * whatever nobody may see half of. Where it is broken off it is begun anew the next time; what was done until then is in nobody's way.
 */
export async function bringUpOnline(means: OnlineMeans, tables: readonly TableSpec[]): Promise<ReadonlyMap<string, ReadyTable>> {
  const { renewal } = means;
  const ready = new Map<string, ReadyTable>();
  if (renewal.isTrial) return ready;
  for (const spec of tables) {
    const isOther = renewal.rows?.has(spec.name) || renewal.renamed?.some(({ to }) => to === spec.name);
    const before = isOther ? undefined : await knownColumns(means, spec.name);
    const shape = shapeOf(means.names, spec);
    if (before === undefined || !(await isLarge(means, shape))) continue;
    const filled = await fillColumns(means, spec, shape, before);
    if (filled) ready.set(spec.name, filled);
    await makeIndexes(means, spec, shape, before, filled);
  }
  return ready;
}

async function isLarge(means: OnlineMeans, shape: TableShape): Promise<boolean> {
  const found = await foundBy(means, once(`SELECT 1 FROM ${shape.sql} OFFSET ${rowsLeast - 1} LIMIT 1`));
  return found.length > 0;
}

/** Fills columns that no document has that is served; nothing where there are none. */
async function fillColumns(
  means: OnlineMeans,
  spec: TableSpec,
  shape: TableShape,
  before: readonly string[],
): Promise<ReadyTable | undefined> {
  // One that is made otherwise by now is read by others as it was made before.
  const used = new Set(before.map((text) => String(JSON.parse(text)[0])));
  const places = staleColumns(before, spec).filter((at) => !used.has(spec.columns[at]!.name));
  if (places.length === 0) return undefined;
  await addColumns({ ...means, changed: () => {} }, { ...spec, columns: spec.columns.filter((_, at) => places.includes(at)) });
  const started = await lastRevision(means);
  await goThrough(means, spec, shape, places, 'seq', -1);
  // By it those are found that were written meanwhile. It goes with the transaction after this, which asks for none of its name.
  const byRevision = quoteName(means.names.index('index', spec.name, 'rev'));
  await makeConcurrently(means, shape, byRevision, `CREATE INDEX CONCURRENTLY ${byRevision} ON ${shape.sql} (rev)`);
  const revision = await lastRevision(means);
  await goThrough(means, spec, shape, places, 'rev', started);
  return { filled: new Set(places), revision };
}

async function lastRevision(means: OnlineMeans): Promise<number> {
  const [row] = await foundBy(means, once(`SELECT last FROM ${means.names.own('store')}`));
  return Number(row?.[0]);
}

/** A page is written while the store's row is held: no batch of changes is under way then, so that neither waits for what the other holds. */
async function goThrough(
  means: OnlineMeans,
  spec: TableSpec,
  shape: TableShape,
  places: readonly number[],
  way: 'seq' | 'rev',
  from: number,
): Promise<void> {
  const { connection, names, columnsOf, renewal } = means;
  const lock = bareSql(`SELECT 1 FROM ${names.own('store')} FOR UPDATE`);
  for (let after = from, done = 0; ; ) {
    const found = await foundBy(means, {
      text: `SELECT seq, id, rev, entered, doc FROM ${shape.sql} WHERE ${way} > $1::int8 ORDER BY ${way} LIMIT ${rowsAtOnce}`,
      values: [String(after)],
    });
    const page = found.map((values): Changed => {
      // The columns are those that are selected above.
      const [seq, id, rev, entered, doc] = values as [number, string, number, number, string];
      const row: Row = { id: String(readScalar(id)), seq, rev, entered, doc };
      after = way === 'seq' ? seq : rev;
      return { seq, rev, doc, columns: columnsOf(spec.name, row) };
    });
    if (page.length > 0)
      await connection.send([bareSql('BEGIN'), lock, updateSql(shape, page, places, false), bareSql('COMMIT')]);
    done += page.length;
    renewal.progress?.(spec.name, done);
    if (page.length < rowsAtOnce) return;
  }
}

/** Makes the indexes that are not there, of columns that hold what they are to hold. */
async function makeIndexes(
  means: OnlineMeans,
  spec: TableSpec,
  shape: TableShape,
  before: readonly string[],
  ready: ReadyTable | undefined,
): Promise<void> {
  const stale = staleColumns(before, spec).filter((at) => !ready?.filled.has(at));
  const later = new Set(stale.map((at) => shape.stated[at]!.sql));
  for (const { name, makeOnline, columns } of indexesOf(means.names, spec, shape))
    if (makeOnline !== undefined && !columns.some((sql) => later.has(sql)))
      await makeConcurrently(means, shape, name, makeOnline);
}

/** One whose making was broken off is there and of no use: it is made anew. */
async function makeConcurrently(means: OnlineMeans, shape: TableShape, name: string, make: string): Promise<void> {
  const known = (await knownIndexes(means, shape)).find((index) => index.name === name);
  if (known?.isValid) return;
  const { connection, names } = means;
  if (known) await connection.send([once(`DROP INDEX CONCURRENTLY ${quoteName(names.schema)}.${name}`)]);
  await connection.send([once(make)]);
}
