import type { ColumnSpec, TableSpec } from '../store.ts';
import { columnName, quoteName, type StoreNames } from './names.ts';

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
