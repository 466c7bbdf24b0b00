import type { Condition, Operand, Scalar } from '../store.ts';
import type { Rows } from './rows.ts';

/** What is bound to one `?`: a parameter by its index, or a value that never changes. */
export type Slot = number | { readonly value: Scalar };

/** The table that columns are named of, and how to find others. */
export interface Scope {
  readonly rows: Rows;
  readonly alias: string;
  readonly find: (table: string) => Rows;
}

/** A condition as SQL. What its `?` stand for is added to `slots`, in the order of the text. */
export function conditionSql(scope: Scope, condition: Condition, slots: Slot[]): string {
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

/** Text begins with another when it lies between that and that with a byte beyond all of UTF-8: one range of an index. */
function prefixSql(scope: Scope, left: Operand, right: Operand, slots: Slot[]): string {
  const above = `${operandSql(scope, left, slots)} >= ${operandSql(scope, right, slots)}`;
  const below = `${operandSql(scope, left, slots)} < ${operandSql(scope, right, slots)} || CAST(x'ff' AS TEXT)`;
  return `(${above} AND ${below})`;
}

function operandSql(scope: Scope, operand: Operand, slots: Slot[]): string {
  if ('param' in operand) {
    slots.push(operand.param);
    return '?';
  }
  if ('value' in operand) {
    slots.push(operand);
    return '?';
  }
  if ('column' in operand) return `${scope.alias}.${scope.rows.column(operand.column).sql}`;
  const rows = scope.find(operand.table);
  const alias = `${scope.alias}v`;
  const value = operandSql({ rows, alias, find: scope.find }, operand.then, slots);
  return `(SELECT ${value} FROM ${rows.sql} AS ${alias} WHERE ${alias}.id = ${scope.alias}.${scope.rows.column(operand.via).sql})`;
}
