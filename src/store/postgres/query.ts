/** A question over one table as statements, and the rows and numbers that it finds. */

import type { Condition, FoundRow, Operand, QuerySpec, RowNumbers, Scalar } from '../store.ts';
import { type ConditionScope, type GivenBinding, postgresCondition } from './condition.ts';
import type { FoundValues, Sql } from './connection.ts';
import { readScalar, type ShapeColumn, sqlTypes, type TableShape, type TableShapes, valueText } from './dialect.ts';

const ALIAS = 't';

interface OrderColumn extends ShapeColumn {
  readonly descending: boolean;
}

interface Compiled {
  readonly text: string;
  readonly bindings: readonly GivenBinding[];
}

/** What of the rows is wanted: all that `limit` asks for and so many more, those of some numbers, how many there are, or the numbers of all. */
export type WantedRows = { readonly more: number } | { readonly numbers: readonly number[] } | 'count' | 'numbers';

/** One question over one table, as SQL for each combination of types that its parameters have. */
export class PostgresQuery {
  /** The tables that it looks into. */
  readonly tables: readonly string[];
  readonly #shapes: TableShapes;
  readonly #spec: QuerySpec;
  readonly #shape: TableShape;
  readonly #order: OrderColumn[] = [];
  readonly #newestFirst: boolean;
  readonly #texts = new Map<string, Compiled>();

  constructor(shapes: TableShapes, spec: QuerySpec) {
    this.#shapes = shapes;
    this.#spec = spec;
    this.#shape = shapes.of(spec.table);
    this.tables = [...new Set([spec.table, ...tablesOf(spec.where)])];
    let newestFirst = spec.newestFirst ?? false;
    for (const { column, descending } of spec.order ?? []) {
      const { sql, type } = this.#shape.column(column);
      if (sql === 'seq') {
        newestFirst = descending ?? false;
        break;
      }
      this.#order.push({ sql: `${ALIAS}.${sql}`, type, descending: descending ?? false });
    }
    this.#newestFirst = newestFirst;
  }

  sql(params: readonly Scalar[], wanted: WantedRows): Sql {
    const sort = typeof wanted === 'string' ? wanted : 'numbers' in wanted ? 'among' : 'rows';
    const kinds = `${sort} ${params.map(kindOf).join('')}`;
    let compiled = this.#texts.get(kinds);
    if (!compiled) {
      compiled = sort === 'rows' ? this.#rows(params) : this.#ofAll(sort, params);
      this.#texts.set(kinds, compiled);
    }
    const values = compiled.bindings.map((binding) => binding(params));
    if (typeof wanted === 'string') return { text: compiled.text, values };
    if ('numbers' in wanted) return { text: compiled.text, values: [...values, `{${wanted.numbers.join()}}`] };
    const { limit, offset } = this.#spec;
    const most = limit === undefined ? -1 : Number(params[limit]);
    const skipped = offset === undefined ? 0 : Number(params[offset]);
    const reach = most < 0 ? null : String(most + wanted.more);
    return {
      text: compiled.text,
      values: [...values, reach, String(skipped), reach === null ? null : String(Number(reach) + skipped)],
    };
  }

  /** The rows that were found, or the first so many of them. */
  read(found: readonly FoundValues[]): FoundRow[] {
    const { lean, keys } = this.#spec;
    const first = lean ? 2 : 5;
    return found.map((values) => {
      const more = keys ? { keys: values.slice(first).map(readScalar) } : {};
      // The columns are those that `#columns` selected.
      const [seq, doc, id, rev, entered] = values as [number, string, string, number, number];
      if (lean) return { id: '', seq, rev: 0, entered: 0, doc, keys: undefined, ...more };
      return { id: String(readScalar(id)), seq, rev, entered, doc, ...more };
    });
  }

  #scope(params: readonly Scalar[], bindings: GivenBinding[]): ConditionScope {
    return { shape: this.#shape, alias: ALIAS, find: (name) => this.#shapes.of(name), bindings, params };
  }

  #ofAll(wanted: 'count' | 'numbers' | 'among', params: readonly Scalar[]): Compiled {
    const bindings: GivenBinding[] = [];
    const where = this.#spec.where ? postgresCondition(this.#scope(params, bindings), this.#spec.where) : '';
    const rows = (among: string) => {
      const conditions = [where, among].filter(Boolean).join(' AND ');
      return `FROM ${this.#shape.sql} AS ${ALIAS}${conditions && ` WHERE ${conditions}`}`;
    };
    if (wanted === 'count') return { text: `SELECT count(*) ${rows('')}`, bindings };
    const order = `ORDER BY ${this.#orderSql()}`;
    if (wanted === 'numbers') {
      const counted = `SELECT ${ALIAS}.seq, row_number() OVER (${order}) - 1 AS at ${rows('')}`;
      const part = `n.at / ${partLength}`;
      const all = `SELECT count(*), string_agg(n.seq::text, ',' ORDER BY n.at) FROM (${counted}) AS n`;
      return { text: `${all} GROUP BY ${part} ORDER BY ${part}`, bindings };
    }
    const among = `${ALIAS}.seq = ANY($${bindings.length + 1}::int8[])`;
    return { text: `SELECT ${this.#columns().join(', ')} ${rows(among)} ${order}`, bindings };
  }

  /** What is selected of each row that is found. */
  #columns(): string[] {
    const names = this.#spec.lean ? ['seq', 'doc'] : ['seq', 'doc', 'id', 'rev', 'entered'];
    return [
      ...names.map((name) => `${ALIAS}.${name}`),
      ...(this.#spec.keys ? this.#order.map(({ sql }, at) => `${sql} AS k${at}`) : []),
    ];
  }

  #orderSql(): string {
    return [
      ...this.#order.map(({ sql, descending }) => (descending ? `${sql} DESC NULLS LAST` : `${sql} NULLS FIRST`)),
      `${ALIAS}.seq${this.#newestFirst ? ' DESC' : ''}`,
    ].join(', ');
  }

  #rows(params: readonly Scalar[]): Compiled {
    const bindings: GivenBinding[] = [];
    const scope = this.#scope(params, bindings);
    const parts = this.#spec.after === undefined ? [''] : this.#continuations(params, this.#spec.after, bindings);
    const where = this.#spec.where ? postgresCondition(scope, this.#spec.where) : '';
    const [reach, skipped, both] = [1, 2, 3].map((at) => `$${bindings.length + at}::int8`);
    const columns = this.#columns();
    const order = this.#orderSql();
    const selects = parts.map((part) => {
      const conditions = [where, part].filter(Boolean).join(' AND ');
      return `SELECT ${columns.join(', ')} FROM ${this.#shape.sql} AS ${ALIAS}${conditions && ` WHERE ${conditions}`} ORDER BY ${order}`;
    });
    const all = selects.length === 1 ? selects[0]! : selects.map((select) => `(${select} LIMIT ${both})`).join(' UNION ALL ');
    // The last one is there in every text, so that all are bound alike.
    return { text: `${all} LIMIT least(${reach}, ${both}) OFFSET ${skipped}`, bindings };
  }

  /**
   * The rows strictly after a given one, as a list of conditions: first those that equal it in every column and were created after it,
   * then those that equal it in all columns but the last, and so on. Each is one range of an index, and is read in their order.
   */
  #continuations(params: readonly Scalar[], from: number, bindings: GivenBinding[]): string[] {
    const order = this.#order;
    const absent = order.map((_, at) => params[from + at] === null);
    const places = order.map(({ type }, at) => {
      if (absent[at]) return '';
      bindings.push((given) => valueText(given[from + at] ?? null));
      return `($${bindings.length}::${sqlTypes[type]}${type === 'text' ? ' COLLATE "C"' : ''})`;
    });
    bindings.push((given) => String(given[from + order.length]));
    const seq = `${ALIAS}.seq ${this.#newestFirst ? '<' : '>'} $${bindings.length}::int8`;
    const same = order.map(({ sql }, at) => (absent[at] ? `${sql} IS NULL` : `${sql} = ${places[at]}`));
    const parts = [[...same, seq].join(' AND ')];
    for (let depth = order.length - 1; depth >= 0; depth--)
      for (const next of beyond(order[depth]!, absent[depth]!, places[depth]!))
        parts.push([...same.slice(0, depth), next].join(' AND '));
    return parts;
  }
}

/** What comes after a value in one column: absent values are sorted before all others. */
function beyond({ sql, descending }: OrderColumn, absent: boolean, place: string): string[] {
  if (descending) return absent ? [] : [`${sql} < ${place}`, `${sql} IS NULL`];
  return [absent ? `${sql} IS NOT NULL` : `${sql} > ${place}`];
}

function kindOf(value: Scalar): string {
  if (value === null) return '0';
  if (typeof value === 'string') return 't';
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? 'i' : 'n';
  return Number.isInteger(value) ? (Math.abs(value) < 2 ** 63 ? 'i' : 'n') : 'r';
}

function tablesOf(condition: Condition | undefined): string[] {
  if (!condition) return [];
  const inside = (operand: Operand): string[] => {
    if (!('then' in operand)) return [];
    const keys = 'by' in operand ? operand.by.flatMap(({ is }) => inside(is)) : [];
    return [operand.table, ...keys, ...inside(operand.then)];
  };
  if ('left' in condition) return [...inside(condition.left), ...inside(condition.right)];
  if (condition.op === 'and' || condition.op === 'or') return condition.of.flatMap(tablesOf);
  if (condition.op === 'not' || condition.op === 'any') return tablesOf(condition.of);
  if (condition.op === 'some') return [condition.table, ...tablesOf(condition.of)];
  return condition.op === 'absent' ? inside(condition.of) : [];
}

/** How many numbers one part has; the last may have fewer. */
const partLength = 1000;

/** Very many numbers as a database told them, a text of some thousand letters for each part, of which none is read before it is wanted. */
export class NumberParts implements RowNumbers {
  readonly length: number;
  readonly #parts: readonly string[];
  #read: { readonly at: number; readonly numbers: readonly number[] } | undefined;

  /** @param found The parts in their order: how many numbers each has, and the numbers with commas between them. */
  constructor(found: readonly FoundValues[]) {
    this.length = found.reduce((sum, [count]) => sum + Number(count), 0);
    this.#parts = found.map(([, text]) => String(text));
  }

  slice(from = 0, to = this.length): number[] {
    const out: number[] = [];
    for (let at = from; at < Math.min(to, this.length); ) {
      const part = Math.floor(at / partLength);
      const some = this.#part(part).slice(at - part * partLength, to - part * partLength);
      for (const number of some) out.push(number);
      at += some.length;
    }
    return out;
  }

  #part(at: number): readonly number[] {
    if (this.#read?.at !== at) this.#read = { at, numbers: (this.#parts[at] ?? '').split(',').map(Number) };
    return this.#read.numbers;
  }
}
