/** PostgreSQL's dialect: how the names, columns and values of a store are written in it. */

import { createHash } from 'node:crypto';
import type { ColumnSpec, Scalar, TableSpec } from '../store.ts';

/** Words that stand in a name as they are. PostgreSQL cuts names after 63 bytes, and knows no U+0000. */
const plain = /^[a-z][a-z0-9_]{0,40}$/;

/** A word as part of a name: as it is, or as a hash of it where it cannot stand there. */
function named(word: string): string {
  return plain.test(word) ? word : `#${hashOf(word)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** An identifier as it stands in SQL. */
export function quoteName(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** The column of a stated one. Its type is part of the name: another type is another column, and the old one stays. */
function columnName(name: string, type: string): string {
  return `${named(name)}:${type}`;
}

/** Where in a database a store lies, and what its tables are called there. */
export class StoreNames {
  readonly schema: string;
  /** Whether the database is asked for nothing but what others that speak PostgreSQL's protocol have too. */
  readonly isPlain: boolean;

  constructor(schema: string, isPlain = false) {
    this.schema = schema;
    this.isPlain = isPlain;
  }

  /** One of the engine's own tables, as SQL. */
  own(name: string): string {
    return `${quoteName(this.schema)}.${quoteName(`ninefold_${name}`)}`;
  }

  /** The table of a resource's rows, as PostgreSQL knows it. */
  bareRows(resource: string): string {
    return `rows:${named(resource)}`;
  }

  rows(resource: string): string {
    return `${quoteName(this.schema)}.${quoteName(this.bareRows(resource))}`;
  }

  /** An index or a constraint; what it is of decides what it is called. */
  index(kind: 'unique' | 'index', resource: string, columns: string): string {
    return `${kind}:${hashOf(`${resource}\n${columns}`)}`;
  }
}

/**
 * PostgreSQL's text holds everything but U+0000. It is written as U+0001 U+0001, and U+0001 as U+0001 U+0002: what was equal, less or
 * a beginning stays so.
 */
export function written(text: string): string {
  if (!text.includes('\0') && !text.includes('\u0001')) return text;
  return text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\0', '\u0001\u0001');
}

/** The text that `written` was made of. */
export function read(text: string): string {
  if (!text.includes('\u0001')) return text;
  return text.replaceAll('\u0001\u0001', '\0').replaceAll('\u0001\u0002', '\u0001');
}

/** Half of a surrogate pair is no text: it becomes U+FFFD, as SQLite makes it. */
export function valueText(value: Scalar): string | null {
  return value === null ? null : written(typeof value === 'string' ? value : String(value));
}

/** A list of values as PostgreSQL writes an array. */
export function arrayText(values: readonly (string | number | bigint | null)[]): string {
  let text = '{';
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (index > 0) text += ',';
    if (value === null || value === undefined) text += 'NULL';
    else if (typeof value === 'string') text += quoted(value);
    else text += String(value);
  }
  return `${text}}`;
}

function quoted(value: string): string {
  if (!value.includes('"') && !value.includes('\\')) return `"${value}"`;
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}

/** What a stated type is called in PostgreSQL. */
export const sqlTypes = { integer: 'int8', real: 'float8', text: 'text' } as const satisfies Record<ColumnSpec['type'], string>;

/** A value of a column as it was given. */
export function readScalar(value: unknown): Scalar {
  // The driver gives numbers, big integers, texts and nulls for the types of columns.
  return typeof value === 'string' ? read(value) : (value as Scalar);
}

/** A column as SQL, with the type that decides how its values are compared and read. */
export interface ShapeColumn {
  readonly sql: string;
  readonly type: ColumnSpec['type'];
}

const ENGINE_COLUMNS: ReadonlyMap<string, ShapeColumn> = new Map([
  ['id', { sql: 'id', type: 'text' }],
  ['seq', { sql: 'seq', type: 'integer' }],
  ['rev', { sql: 'rev', type: 'integer' }],
  ['entered', { sql: 'entered', type: 'integer' }],
]);

/** What is known of one prepared table. */
export interface TableShape {
  readonly name: string;
  readonly sql: string;
  /** The stated columns, in their order. */
  readonly stated: readonly ShapeColumn[];
  /** The unique columns, by where they stand among the stated ones. */
  readonly uniques: readonly { readonly name: string; readonly at: number }[];
  /** Places of stated columns whose values an index holds. */
  readonly indexed: readonly number[];
  column(name: string): ShapeColumn;
}

/** The prepared tables. A change of tables makes new ones. */
export class TableShapes {
  readonly names: StoreNames;
  readonly #shapes = new Map<string, TableShape>();

  constructor(names: StoreNames, specs: readonly TableSpec[]) {
    this.names = names;
    for (const spec of specs) this.#shapes.set(spec.name, shapeOf(names, spec));
  }

  of(name: string): TableShape {
    const found = this.#shapes.get(name);
    if (!found) throw new Error(`the store has no table ${name}; prepare it first`);
    return found;
  }
}

export function shapeOf(names: StoreNames, spec: TableSpec): TableShape {
  const columns = new Map(ENGINE_COLUMNS);
  const stated = spec.columns.map(({ name, type }) => ({ sql: quoteName(columnName(name, type)), type }));
  for (const [at, { name }] of spec.columns.entries()) columns.set(name, stated[at]!);
  const indexed = new Set(spec.unique);
  for (const list of spec.indexes) for (const entry of list) indexed.add(typeof entry === 'string' ? entry : entry.column);
  return {
    name: spec.name,
    sql: names.rows(spec.name),
    stated,
    uniques: spec.unique.map((name) => ({ name, at: spec.columns.findIndex((column) => column.name === name) })),
    indexed: spec.columns.flatMap(({ name, type }, at) => (type === 'text' && indexed.has(name) ? [at] : [])),
    column(name) {
      const found = columns.get(name);
      if (!found) throw new Error(`table ${spec.name} has no column ${name}; state it before it is used`);
      return found;
    },
  };
}
