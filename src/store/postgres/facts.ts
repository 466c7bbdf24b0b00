import type { Row, Scalar, StoredRecord } from '../store.ts';
import type { FoundValues, Sql } from './connection.ts';
import { arrayText, read, readScalar, sqlTypes, type TableShapes, valueText, written } from './dialect.ts';

/** A row with the values of its unique columns and, where it was written here, all of them. */
export interface Entry {
  readonly row: Row;
  readonly uniques: readonly Scalar[];
  readonly columns?: readonly Scalar[];
}

/** What a counter holds, and until when. */
export interface Counter {
  readonly count: number;
  readonly expiresMs: number;
}

/** One thing that is looked up by its name, many of a sort in one statement. */
export type FactPoint =
  | { readonly sort: 'row'; readonly table: string; readonly name: string }
  | { readonly sort: 'holder'; readonly table: string; readonly column: string; readonly value: Scalar }
  | { readonly sort: 'record' | 'counter' | 'sequence'; readonly name: string };

/** What each sort of point is where it is there; null where it is not. */
export interface PointValues {
  readonly row: Entry;
  readonly holder: string;
  readonly record: StoredRecord;
  readonly counter: Counter;
  readonly sequence: number;
}

/** What tells a point from all others. */
export function pointKey(point: FactPoint): string {
  switch (point.sort) {
    case 'row':
      return `row\n${point.table}\n${point.name}`;
    case 'holder':
      return `holder\n${point.table}\n${point.column}\n${valueText(point.value)}`;
    default:
      return `${point.sort}\n${point.name}`;
  }
}

/** A question with a statement of its own. */
export interface StoreAsk<T> {
  readonly key: string;
  /** What its answer depends on: when one of these is written, it may be another. */
  readonly concerns: readonly string[];
  readonly sql: readonly Sql[];
  readonly value: (found: readonly (readonly FoundValues[])[]) => T;
  /** Its statements write; they are taken back once they were answered. */
  readonly isUndone?: boolean;
}

/** What bodies asked for that was not known. */
export class Wanted {
  readonly points = new Map<string, FactPoint>();
  /** Each with how often the body that asked had written what the answer depends on. */
  readonly asks = new Map<string, { readonly ask: StoreAsk<unknown>; readonly own: number }>();
}

/** The statements that answer what is wanted of points, and what makes facts of what they find. */
export interface PointQuery {
  readonly sql: Sql;
  readonly learn: (found: readonly FoundValues[], facts: Map<string, unknown>) => void;
}

export function pointQueries(shapes: TableShapes, points: Iterable<FactPoint>): PointQuery[] {
  const groups = new Map<string, FactPoint[]>();
  for (const point of points) {
    const group = point.sort === 'row' ? point.table : point.sort === 'holder' ? `${point.table}\n${point.column}` : '';
    const key = `${point.sort}\n${group}`;
    const known = groups.get(key);
    if (known) known.push(point);
    else groups.set(key, [point]);
  }
  return [...groups.values()].map((group) => {
    const { sql, fact } = queryOf(shapes, group[0]!, group);
    return {
      sql,
      learn(found, facts) {
        for (const point of group) facts.set(pointKey(point), null);
        for (const values of found) {
          const [key, value] = fact(values);
          facts.set(key, value);
        }
      },
    };
  });
}

interface GroupQuery {
  readonly sql: Sql;
  readonly fact: (values: FoundValues) => readonly [key: string, value: unknown];
}

function queryOf(shapes: TableShapes, first: FactPoint, group: readonly FactPoint[]): GroupQuery {
  if (first.sort === 'row') return rowsQuery(shapes, first.table, namesOf(group));
  if (first.sort === 'holder') return holdersQuery(shapes, first, group);
  const { names } = shapes;
  const ask = (columns: string, table: string, key: string): Sql => ({
    text: `SELECT ${columns} FROM ${names.own(table)} WHERE ${key} = ANY($1::text[])`,
    values: [namesOf(group)],
  });
  // The columns are those that each statement selects.
  if (first.sort === 'record')
    return {
      sql: ask('key, fingerprint, body, expires', 'records', 'key'),
      fact: (values) => {
        const [key, fingerprint, body, expiresMs] = values as [string, string, string, number];
        return [`record\n${read(key)}`, { fingerprint: read(fingerprint), body: read(body), expiresMs }];
      },
    };
  if (first.sort === 'counter')
    return {
      sql: ask('name, count, expires', 'counters', 'name'),
      fact: (values) => {
        const [name, count, expiresMs] = values as [string, number, number];
        return [`counter\n${read(name)}`, { count, expiresMs }];
      },
    };
  return {
    sql: ask('name, last', 'sequences', 'name'),
    fact: (values) => {
      const [name, last] = values as [string, number];
      return [`sequence\n${read(name)}`, last];
    },
  };
}

function namesOf(group: readonly FactPoint[]): string {
  return arrayText(group.flatMap((point) => (point.sort === 'holder' ? [] : [written(point.name)])));
}

function rowsQuery(shapes: TableShapes, table: string, ids: string): GroupQuery {
  const shape = shapes.of(table);
  const uniques = shape.uniques.map(({ at }) => `, ${shape.stated[at]!.sql}`).join('');
  return {
    sql: { text: `SELECT id, seq, rev, entered, doc${uniques} FROM ${shape.sql} WHERE id = ANY($1::text[])`, values: [ids] },
    fact: (values) => {
      const [text, seq, rev, entered, doc] = values as [string, number, number, number, string];
      const id = read(text);
      const entry: Entry = { row: { id, seq, rev, entered, doc }, uniques: values.slice(5).map(readScalar) };
      return [`row\n${table}\n${id}`, entry];
    },
  };
}

function holdersQuery(
  shapes: TableShapes,
  { table, column }: { readonly table: string; readonly column: string },
  group: readonly FactPoint[],
): GroupQuery {
  const shape = shapes.of(table);
  const { sql, type } = shape.column(column);
  const values = group.flatMap((point) => (point.sort === 'holder' ? [valueText(point.value)] : []));
  return {
    sql: {
      text: `SELECT ${sql}, id FROM ${shape.sql} WHERE ${sql} = ANY($1::${sqlTypes[type]}[])`,
      values: [arrayText(values)],
    },
    fact: ([value, id]) => [pointKey({ sort: 'holder', table, column, value: readScalar(value) }), String(readScalar(id))],
  };
}
