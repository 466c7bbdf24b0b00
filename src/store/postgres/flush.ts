/** The statements that bring into the database what bodies wrote, what is too old, and what is erased. */

import { type Erased, type Erasure, needlesOf } from '../maintenance.ts';
import type { StoredRecord } from '../store.ts';
import { bareSql, type FoundValues, type Sql } from './connection.ts';
import { arrayText, type StoreNames, sqlTypes, type TableShape, valueText, written as writtenText } from './dialect.ts';
import type { Counter, Entry, FactPoint } from './facts.ts';
import { groupsOf, type OpGroup } from './ops.ts';
import { outboxSql, timerSql } from './outbox-sql.ts';
import type { OwnWritten, State, WrittenFacts } from './state.ts';

/** What clears a store of all that clients made. */
const cleared = ['records', 'counters', 'sequences', 'timers', 'attempts', 'deliveries', 'events', 'subscribers'];

/** The statements that bring what was written into the database, in an order in which none of them is in the way of another. */
export function flushSql(state: State, written: WrittenFacts | OwnWritten, rowTables: readonly string[]): Sql[] {
  const { shapes } = state;
  const { names } = shapes;
  const statements: Sql[] = [];
  const isCleared = written.ops.some(({ kind }) => kind === 'clear');
  if (isCleared) {
    for (const table of rowTables) statements.push({ text: `DELETE FROM ${names.rows(table)}`, values: [], isOnce: true });
    for (const name of cleared) statements.push(bareSql(`DELETE FROM ${names.own(name)}`));
  }
  const sorts = sorted(state, written, isCleared);
  for (const [table, changes] of sorts.rows) statements.push(...rowsSql(shapes.of(table), changes, names.isPlain));
  if (sorts.records.length > 0) statements.push(recordsSql(names, sorts.records));
  if (sorts.counters.length > 0) statements.push(countersSql(names, sorts.counters));
  if (sorts.sequences.length > 0) statements.push(sequencesSql(names, sorts.sequences));
  for (const group of groupsOf(written.ops)) statements.push(...groupSql(names, group));
  return statements;
}

/** What becomes of the rows of one table. */
interface RowChanges {
  readonly removed: string[];
  readonly updated: Entry[];
  readonly inserted: Entry[];
}

interface Sorted {
  readonly rows: Map<string, RowChanges>;
  readonly records: (readonly [string, StoredRecord])[];
  readonly counters: (readonly [string, Counter])[];
  readonly sequences: (readonly [string, number])[];
}

/** What was written of each sort, by name: whoever writes several does so in the same order as all others. */
function sorted(state: State, written: WrittenFacts | OwnWritten, isCleared: boolean): Sorted {
  const values = 'values' in written ? written.values : state.facts;
  const found: Sorted = { rows: new Map(), records: [], counters: [], sequences: [] };
  for (const key of [...written.points.keys()].sort()) {
    // Both maps hold the same keys, and what is kept under a key is of its point's sort.
    const point = written.points.get(key) as FactPoint;
    const now = values.get(key) ?? null;
    if (point.sort === 'row') {
      const before = isCleared ? null : (state.stored.get(key) ?? null);
      const changes = found.rows.get(point.table) ?? { removed: [], updated: [], inserted: [] };
      found.rows.set(point.table, changes);
      // One that was taken out and put in again has another creation number.
      const isOther = before !== null && now !== null && (before as Entry).row.seq !== (now as Entry).row.seq;
      if (before !== null && (now === null || isOther)) changes.removed.push(point.name);
      if (now !== null && before !== null && !isOther) changes.updated.push(now as Entry);
      else if (now !== null) changes.inserted.push(now as Entry);
    } else if (now === null) continue;
    else if (point.sort === 'record') found.records.push([point.name, now as StoredRecord]);
    else if (point.sort === 'counter') found.counters.push([point.name, now as Counter]);
    else if (point.sort === 'sequence') found.sequences.push([point.name, now as number]);
  }
  return found;
}

/** Rows are removed first, then changed, then added: what a unique value is taken from is done before it is given to another. */
function rowsSql(shape: TableShape, { removed, updated, inserted }: RowChanges, isPlain: boolean): Sql[] {
  const statements: Sql[] = [];
  if (removed.length > 0)
    statements.push({
      text: `DELETE FROM ${shape.sql} WHERE id = ANY($1::text[])`,
      values: [arrayText(removed.map(writtenText))],
    });
  if (updated.length > 0) {
    const columns = ['seq', 'rev', 'entered', 'doc', ...shape.stated.map(({ sql }) => sql)];
    const ids = arrayText(updated.map(({ row }) => writtenText(row.id)));
    // Where each row is looked at as it is written, values change places by way of none.
    if (isPlain && shape.uniques.length > 0 && updated.length > 1) {
      const none = shape.uniques.map(({ at }) => `${shape.stated[at]!.sql} = NULL`).join(', ');
      statements.push({ text: `UPDATE ${shape.sql} SET ${none} WHERE id = ANY($1::text[])`, values: [ids] });
    }
    // All of them are there. It is said so that each is found by its identifier, however few rows there were when it was planned.
    statements.push({
      text: `INSERT INTO ${shape.sql} (id, ${columns.join(', ')})
        SELECT * FROM unnest($1::text[], $2::int8[], ${typesOf(shape, 3)})
        ON CONFLICT (id) DO UPDATE SET ${columns.map((sql) => `${sql} = excluded.${sql}`).join(', ')}`,
      values: [ids, arrayText(updated.map(({ row }) => row.seq)), ...valuesOf(shape, updated)],
    });
  }
  if (inserted.length > 0) {
    const columns = ['id', 'seq', 'rev', 'entered', 'doc', ...shape.stated.map(({ sql }) => sql)];
    statements.push({
      text: `INSERT INTO ${shape.sql} (${columns.join(', ')})
        SELECT * FROM unnest($1::text[], $2::int8[], ${typesOf(shape, 3)})`,
      values: [
        arrayText(inserted.map(({ row }) => writtenText(row.id))),
        arrayText(inserted.map(({ row }) => row.seq)),
        ...valuesOf(shape, inserted),
      ],
    });
  }
  return statements;
}

function typesOf(shape: TableShape, from: number): string {
  return ['int8', 'int8', 'text', ...shape.stated.map(({ type }) => sqlTypes[type])]
    .map((type, index) => `$${from + index}::${type}[]`)
    .join(', ');
}

function valuesOf(shape: TableShape, entries: readonly Entry[]): string[] {
  return [
    arrayText(entries.map(({ row }) => row.rev)),
    arrayText(entries.map(({ row }) => row.entered)),
    arrayText(entries.map(({ row }) => row.doc)),
    ...shape.stated.map((_, at) => arrayText(entries.map(({ columns }) => valueText(columns?.[at] ?? null)))),
  ];
}

function recordsSql(names: StoreNames, records: Sorted['records']): Sql {
  return {
    text: `INSERT INTO ${names.own('records')} (key, fingerprint, body, expires)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[])
      ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, body = excluded.body, expires = excluded.expires`,
    values: [
      arrayText(records.map(([key]) => writtenText(key))),
      arrayText(records.map(([, { fingerprint }]) => writtenText(fingerprint))),
      arrayText(records.map(([, { body }]) => writtenText(body))),
      arrayText(records.map(([, { expiresMs }]) => expiresMs)),
    ],
  };
}

function countersSql(names: StoreNames, counters: Sorted['counters']): Sql {
  return {
    text: `INSERT INTO ${names.own('counters')} (name, count, expires) SELECT * FROM unnest($1::text[], $2::float8[], $3::int8[])
      ON CONFLICT (name) DO UPDATE SET count = excluded.count, expires = excluded.expires`,
    values: [
      arrayText(counters.map(([name]) => writtenText(name))),
      arrayText(counters.map(([, { count }]) => count)),
      arrayText(counters.map(([, { expiresMs }]) => expiresMs)),
    ],
  };
}

function sequencesSql(names: StoreNames, sequences: Sorted['sequences']): Sql {
  return {
    text: `INSERT INTO ${names.own('sequences')} (name, last) SELECT * FROM unnest($1::text[], $2::int8[])
      ON CONFLICT (name) DO UPDATE SET last = excluded.last`,
    values: [arrayText(sequences.map(([name]) => writtenText(name))), arrayText(sequences.map(([, last]) => last))],
  };
}

function groupSql(names: StoreNames, group: OpGroup): Sql[] {
  const first = group.ops[0]!;
  switch (first.kind) {
    case 'clear':
      return [];
    case 'erase':
      return group.ops.flatMap((op) => (op.kind === 'erase' ? eraseSql(names, op.of) : []));
    case 'putCredential':
    case 'removeCredential':
      return group.ops.flatMap((op) => credentialSql(names, op));
    case 'setTimer':
    case 'timerFired':
    case 'clearTimer':
    case 'clearTimers':
    case 'forgetTimers':
      return timerSql(names, group);
    default:
      return outboxSql(names, group);
  }
}

function credentialSql(names: StoreNames, op: OpGroup['ops'][number]): Sql[] {
  const table = names.own('credentials');
  if (op.kind === 'removeCredential')
    return [
      {
        text: `DELETE FROM ${table} WHERE name = $1 AND serial = $2::int8`,
        values: [writtenText(op.of.name), String(op.of.serial)],
      },
    ];
  if (op.kind !== 'putCredential') return [];
  const { name, serial, scheme, lookup, user, caller, doc } = op.of;
  return [
    {
      text: `INSERT INTO ${table} (name, serial, scheme, lookup, "user", caller, doc) VALUES ($1, $2::int8, $3, $4, $5, $6, $7)
        ON CONFLICT (name, serial) DO UPDATE SET scheme = excluded.scheme, lookup = excluded.lookup, "user" = excluded."user",
        caller = excluded.caller, doc = excluded.doc`,
      values: [writtenText(name), String(serial), ...[scheme, lookup, user, caller, doc].map(writtenText)],
    },
  ];
}

const PURGED_PER_KEPT = 2;

/** Each record or counter that is written makes room by removing two that have ended, at most. */
export function purgeSql(
  names: StoreNames,
  { done }: State,
  { recordsMs, countersMs }: { readonly recordsMs: number; readonly countersMs: number },
): Sql[] {
  let [records, counters] = [0, 0];
  for (const { sort } of done.points.values()) {
    if (sort === 'record') records += 1;
    if (sort === 'counter') counters += 1;
  }
  const purged = (table: string, key: string, nowMs: number, kept: number): Sql[] =>
    kept === 0
      ? []
      : [
          {
            text: `DELETE FROM ${names.own(table)} WHERE ${key} IN
              (SELECT ${key} FROM ${names.own(table)} WHERE expires <= $1::int8 ORDER BY expires LIMIT $2::int8)`,
            values: [String(nowMs), String(kept * PURGED_PER_KEPT)],
          },
        ];
  return [...purged('records', 'key', recordsMs, records), ...purged('counters', 'name', countersMs, counters)];
}

/**
 * Takes out whatever tells of somebody beside rows. It looks through all events, answers and counters. Each statement says how many it
 * took out, and `erasedOf` reads that.
 */
export function eraseSql(names: StoreNames, erasure: Erasure): Sql[] {
  const { rows } = erasure;
  const needles = arrayText(needlesOf(erasure).map(writtenText));
  const tells = (column: string, place = 1) =>
    `EXISTS (SELECT 1 FROM unnest($${place}::text[]) AS needle WHERE strpos(${column}, needle) > 0)`;
  const ids = arrayText(rows.map(({ id }) => writtenText(id)));
  const counting = (sql: string) => `WITH gone AS (${sql}) SELECT count(*) FROM gone`;
  const [events, deliveries, attempts] = ['events', 'deliveries', 'attempts'].map((name) => names.own(name));
  const isGone = `(e.resource, e."row") IN (SELECT * FROM unnest($2::text[], $3::text[])) OR ${tells('e.payload')} OR ${tells("coalesce(e.image, '')")}`;
  const goneEvents = `SELECT e.seq FROM ${events} AS e WHERE ${isGone}`;
  const goneDeliveries = `SELECT d.seq FROM ${deliveries} AS d WHERE d.event IN (${goneEvents}) OR d.subscriber = ANY($3::text[])`;
  const about = [needles, arrayText(rows.map(({ resource }) => writtenText(resource))), ids];
  const once = (text: string, values: readonly string[]): Sql => ({ text, values, isOnce: true });
  return [
    once(`DELETE FROM ${attempts} WHERE delivery IN (${goneDeliveries})`, about),
    once(counting(`DELETE FROM ${deliveries} WHERE seq IN (${goneDeliveries}) RETURNING 1`), about),
    once(counting(`DELETE FROM ${events} AS e WHERE ${isGone} RETURNING 1`), about),
    once(`DELETE FROM ${names.own('subscribers')} WHERE id = ANY($1::text[])`, [ids]),
    once(counting(`UPDATE ${attempts} SET response = NULL WHERE response IS NOT NULL AND ${tells('response')} RETURNING 1`), [
      needles,
    ]),
    once(counting(`DELETE FROM ${names.own('records')} WHERE ${tells('key')} OR ${tells('body')} RETURNING 1`), [needles]),
    once(counting(`DELETE FROM ${names.own('counters')} WHERE ${tells("name || E'\\n'")} RETURNING 1`), [needles]),
  ];
}

export function erasedOf(found: readonly (readonly FoundValues[])[]): Erased {
  const [, deliveries = 0, events = 0, , answers = 0, records = 0, counters = 0] = found.map(([row]) => Number(row?.[0] ?? 0));
  return { events, deliveries, answers, records, counters };
}
