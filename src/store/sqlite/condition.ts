import type { Condition, Operand, Scalar } from '../store.ts';
import type { RowColumn, TableRows } from './rows.ts';

/** What is bound to one `?`: a parameter by its index, or a value that never changes. */
export type Binding = number | { readonly value: Scalar };

/** The table that columns are named of, and how to find others. */
export interface TableScope {
  readonly rows: TableRows;
  readonly alias: string;
  readonly find: (table: string) => TableRows;
  /** What the scalars of an array are named of, inside an `any`. */
  readonly item?: string;
}

/** A condition as SQL. What its `?` stand for is added to `slots`, in the order of the text. */
export function conditionSql(scope: TableScope, condition: Condition, slots: Binding[]): string {
  switch (condition.op) {
    case 'true':
      return '1';
    case 'false':
      return '0';
    case 'and':
    case 'or': {
      if (condition.of.length === 0) return condition.op === 'and' ? '1' : '0';
      return `(${condition.of.map((part) => conditionSql(scope, part, slots)).join(` ${condition.op.toUpperCase()} `)})`;
    }
    case 'not':
      return `(NOT ${conditionSql(scope, condition.of, slots)})`;
    case 'absent':
      return `(${operandSql(scope, condition.of, slots)} IS NULL)`;
    case 'in':
      return `(${operandSql(scope, condition.left, slots)} IN (SELECT value FROM json_each(${operandSql(scope, condition.right, slots)})))`;
    case 'prefix':
      return prefixSql(scope, condition.left, condition.right, slots);
    case 'some':
      return someSql(scope, condition, slots);
    case 'any': {
      const alias = `${scope.alias}e`;
      const list = `${scope.alias}.${scope.rows.column(condition.column).sql}`;
      return `EXISTS (SELECT 1 FROM json_each(${list}) AS ${alias} WHERE ${conditionSql({ ...scope, item: alias }, condition.of, slots)})`;
    }
    case 'contains': {
      const left = operandSql(scope, condition.left, slots);
      return `(instr(${left}, ${operandSql(scope, condition.right, slots)}) > 0)`;
    }
    default: {
      const left = operandSql(scope, condition.left, slots);
      return `(${left} ${condition.op} ${operandSql(scope, condition.right, slots)})`;
    }
  }
}

/** Whether there is such a row: the one that is referred to, or one that refers to this row. */
function someSql(scope: TableScope, condition: Extract<Condition, { op: 'some' }>, slots: Binding[]): string {
  const rows = scope.find(condition.table);
  const alias = `${scope.alias}v`;
  const { by } = condition;
  const own = 'to' in by ? scope.rows.column(by.to).sql : 'id';
  const other = 'from' in by ? rows.column(by.from).sql : 'id';
  const of = conditionSql({ rows, alias, find: scope.find }, condition.of, slots);
  return `EXISTS (SELECT 1 FROM ${rows.sql} AS ${alias} WHERE ${alias}.${other} = ${scope.alias}.${own} AND ${of})`;
}

/** Text begins with another when it lies between that and that with a byte beyond all of UTF-8: one range of an index. */
function prefixSql(scope: TableScope, left: Operand, right: Operand, slots: Binding[]): string {
  const above = `${operandSql(scope, left, slots)} >= ${operandSql(scope, right, slots)}`;
  const below = `${operandSql(scope, left, slots)} < ${operandSql(scope, right, slots)} || CAST(x'ff' AS TEXT)`;
  return `(${above} AND ${below})`;
}

function operandSql(scope: TableScope, operand: Operand, slots: Binding[]): string {
  if ('param' in operand) {
    slots.push(operand.param);
    return '?';
  }
  if ('value' in operand) {
    slots.push(operand);
    return '?';
  }
  if ('column' in operand) return `${scope.alias}.${scope.rows.column(operand.column).sql}`;
  if ('item' in operand) return `${scope.item}.value`;
  const rows = scope.find(operand.table);
  const alias = `${scope.alias}v`;
  const value = operandSql({ rows, alias, find: scope.find }, operand.then, slots);
  if ('by' in operand) {
    const keys = operand.by.map(({ column, is }) => `${alias}.${rows.column(column).sql} = ${operandSql(scope, is, slots)}`);
    return `(SELECT ${value} FROM ${rows.sql} AS ${alias} WHERE ${keys.join(' AND ')} LIMIT 1)`;
  }
  return `(SELECT ${value} FROM ${rows.sql} AS ${alias} WHERE ${alias}.id = ${scope.alias}.${scope.rows.column(operand.via).sql})`;
}

export interface OrderColumn extends RowColumn {
  readonly descending: boolean;
}

/** A condition with what its `?` stand for. */
export interface ConditionPart {
  readonly sql: string;
  readonly slots: readonly Binding[];
}

/**
 * The rows strictly after a given one, as a list of conditions: first those that equal it in every column and were
 * created after it, then those that equal it in all columns but the last, and so on. All rows of one part come before
 * all rows of the next, and each part is one range of an index, however far into the list it begins.
 */
export function continuations(
  order: readonly OrderColumn[],
  seq: string,
  newestFirst: boolean,
  absent: readonly boolean[],
  from: number,
): ConditionPart[] {
  const parts: ConditionPart[] = [];
  const same = order.map(({ sql }, index) => (absent[index] ? `${sql} IS NULL` : `${sql} = ?`));
  const slots = (count: number) => order.slice(0, count).flatMap((_, index) => (absent[index] ? [] : [from + index]));
  parts.push({
    sql: [...same, `${seq} ${newestFirst ? '<' : '>'} ?`].join(' AND '),
    slots: [...slots(order.length), from + order.length],
  });
  for (let depth = order.length - 1; depth >= 0; depth--) {
    for (const next of beyond(order[depth]!, absent[depth]!, from + depth)) {
      parts.push({ sql: [...same.slice(0, depth), next.sql].join(' AND '), slots: [...slots(depth), ...next.slots] });
    }
  }
  return parts;
}

/** What comes after a value in one column: SQLite, as asked, sorts absent values before all others. */
function beyond({ sql, descending }: OrderColumn, absent: boolean, param: number): ConditionPart[] {
  const present = { sql: `${sql} ${descending ? '<' : '>'} ?`, slots: [param] };
  if (descending) return absent ? [] : [present, { sql: `${sql} IS NULL`, slots: [] }];
  return [absent ? { sql: `${sql} IS NOT NULL`, slots: [] } : present];
}

const SAFE = `BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;

/** A number cannot hold every 64-bit integer: those outside its exact range come as text, and become a BigInt. */
export function exactSql({ sql, type }: RowColumn): string {
  return type === 'integer' ? `iif(typeof(${sql}) = 'integer' AND ${sql} NOT ${SAFE}, CAST(${sql} AS TEXT), ${sql})` : sql;
}

/** What `exactSql` selected. */
export function exact(type: RowColumn['type'], value: Scalar): Scalar {
  return type === 'integer' && typeof value === 'string' ? BigInt(value) : value;
}
