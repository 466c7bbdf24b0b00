import type { Filter, FilterField, FilterOperand, FilterValue } from '../../parts/expressions/filter.ts';
import type { Context } from '../../parts/expressions/frame.ts';
import { type DecidedParam, filterParam, toFilter } from '../../parts/expressions/to-filter.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Condition, Operand, Scalar } from '../../store/store.ts';
import type { Prepared } from '../expressions.ts';
import { toJson } from '../json.ts';
import type { Scope } from './asking.ts';
import type { ColumnUse, RuleColumns } from './columns.ts';

/** The condition of a list's rule, as a database decides it. */
export interface ListRule {
  /** The condition with its parameters counted from this one on. */
  where(first: number): Condition;
  /** The parameters of one request. */
  values(scope: Scope): Scalar[];
  /** Which of them stay the same from page to page: those that do not read the clock. */
  readonly isSteady: readonly boolean[];
  /** The columns that have to equal something for the condition to hold. */
  readonly equal: readonly string[];
}

/** Translates the condition of a rule over the rows of a resource, and asks for the columns that it needs; nothing where no database can decide it. */
export function compileListRule(spec: Spec, resource: string, condition: Prepared, columns: RuleColumns): ListRule | undefined {
  const decided = toFilter(spec, condition);
  if ('undecidable' in decided) return undefined;
  const { filter, params } = decided;
  const whole = conditionOf(filter, resource, columns);
  return {
    where: (first) => moved(whole, first),
    values: (scope) => params.map((param) => scalarOf(param, scope)),
    isSteady: params.map(({ compiled }) => compiled.reads.every(({ root }) => root !== 'now')),
    equal: equalColumns(whole),
  };
}

function conditionOf(filter: Filter, resource: string, columns: RuleColumns): Condition {
  const operand = (one: FilterOperand): Operand => {
    if ('param' in one) return one;
    if ('value' in one) return { value: plainScalar(one.value) };
    return columnOf(one, resource, columns);
  };
  switch (filter.op) {
    case 'true':
    case 'false':
      return filter;
    case 'and':
    case 'or':
      return { op: filter.op, of: filter.of.map((part) => conditionOf(part, resource, columns)) };
    case 'not':
      return { op: 'not', of: conditionOf(filter.of, resource, columns) };
    case 'absent':
      return { op: 'absent', of: columnOf(filter.of, resource, columns, true) };
    default:
      return { op: filter.op, left: operand(filter.left), right: operand(filter.right) };
  }
}

/** `isAsked` = whether something is there, and not what it is. */
function columnOf(field: FilterField, resource: string, columns: RuleColumns, isAsked = false): Operand {
  if ('via' in field) {
    const via = columns.name(resource, field.via, 'id');
    const then = columnOf(field.then, field.resource, columns, isAsked);
    return { via, table: field.resource, then };
  }
  const use: ColumnUse = isAsked || field.type === 'any' ? 'presence' : field.type;
  return { column: columns.name(resource, field.field, use) };
}

function plainScalar(value: Exclude<FilterValue, readonly unknown[]>): Scalar {
  return typeof value === 'boolean' ? Number(value) : value;
}

function scalarOf(param: DecidedParam, scope: Scope): Scalar {
  // A scope holds JSON values, a clock and a follower by name, which is what a context is.
  const value = filterParam(param, scope as Context);
  return isList(value) ? toJson(value) : plainScalar(value);
}

function isList(value: FilterValue): value is Extract<FilterValue, readonly unknown[]> {
  return Array.isArray(value);
}

/** The same condition with its parameters further on. */
function moved(condition: Condition, by: number): Condition {
  switch (condition.op) {
    case 'true':
    case 'false':
      return condition;
    case 'and':
    case 'or':
      return { op: condition.op, of: condition.of.map((part) => moved(part, by)) };
    case 'not':
      return { op: 'not', of: moved(condition.of, by) };
    case 'absent':
      return { op: 'absent', of: movedOperand(condition.of, by) };
    default:
      return { op: condition.op, left: movedOperand(condition.left, by), right: movedOperand(condition.right, by) };
  }
}

function movedOperand(operand: Operand, by: number): Operand {
  if ('param' in operand) return { param: operand.param + by };
  if (!('via' in operand)) return operand;
  const then = movedOperand(operand.then, by);
  return { ...operand, then };
}

function equalColumns(condition: Condition): string[] {
  if (condition.op === 'and') return condition.of.flatMap(equalColumns);
  if (condition.op !== '=') return [];
  const { left, right } = condition;
  return [left, right].flatMap((operand) => ('column' in operand ? [operand.column] : []));
}
