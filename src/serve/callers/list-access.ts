import type { EvaluationContext } from '../../parts/expressions/cel-value.ts';
import { toFilter } from '../../parts/expressions/filter.ts';
import {
  type DecidedParam,
  type Filter,
  type FilterField,
  type FilterOperand,
  type FilterValue,
  filterParam,
} from '../../parts/expressions/filter-form.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Condition, Operand, Scalar } from '../../store/store.ts';
import type { PreparedExpression } from '../exchange/compilation.ts';
import type { Fields } from '../exchange/exchange.ts';
import { toJson } from '../http/json.ts';
import { type Bindings, type ColumnUse, callerOf, hasScopes, holds, type RuleColumns, type UserPermission } from './rules.ts';

/** Which rows of a list one user sees. */
export interface ListAccess {
  /** The rows that are shown to a caller; nothing = all of them. */
  filter(scope: Bindings): RowFilter | undefined;
  /** Whether one row is. */
  shows(scope: Bindings, row: Fields): boolean;
}

/** A test of rows for one request. */
export interface RowFilter {
  /** Equal for filters of the same form, whatever their values. */
  readonly form: string;
  /** The condition with its parameters counted from this one on. */
  where(first: number): Condition;
  readonly values: readonly Scalar[];
  /** What a cursor is bound to: form and values, but for those of the clock. */
  readonly bound: string;
}

/** A list in which all rows are shown. */
export const wholeListing: ListAccess = { filter: () => undefined, shows: () => true };

export function compileListing(
  spec: Spec,
  operation: Operation,
  rules: readonly UserPermission[],
  listRule: (rule: UserPermission) => ListRule | undefined,
): ListAccess {
  return namesOperation(spec.authentication.public, operation) ? wholeListing : shownBy(rules, listRule);
}

/** The rows for which one of these rules holds. */
export function shownBy(rules: readonly UserPermission[], listRule: (rule: UserPermission) => ListRule | undefined): ListAccess {
  return {
    filter(scope) {
      const caller = callerOf(scope);
      const asked: { readonly rule: UserPermission; readonly sql: ListRule }[] = [];
      for (const rule of rules) {
        if (!hasScopes(caller, rule.scopes)) continue;
        if (!rule.condition) return undefined;
        if (!rule.readsRow) {
          // It is the same for each row.
          if (holds(rule.condition, scope)) return undefined;
          continue;
        }
        const sql = listRule(rule);
        if (sql) asked.push({ rule, sql });
      }
      return filterOf(asked, scope);
    },
    shows(scope, row) {
      const caller = callerOf(scope);
      const own = { ...scope, resource: row };
      return rules.some(({ condition, scopes }) => hasScopes(caller, scopes) && (!condition || holds(condition, own)));
    },
  };
}

/** The rows that all of these show. */
export function allFilters(filters: readonly RowFilter[]): RowFilter | undefined {
  if (filters.length < 2) return filters[0];
  return {
    form: filters.map(({ form }) => form).join('\n\n'),
    values: filters.flatMap(({ values }) => values),
    bound: filters.map(({ bound }) => bound).join('\n\n'),
    where(first) {
      let next = first;
      const of = filters.map(({ where, values }) => {
        const condition = where(next);
        next += values.length;
        return condition;
      });
      return { op: 'and', of };
    },
  };
}

function filterOf(asked: readonly { readonly rule: UserPermission; readonly sql: ListRule }[], scope: Bindings): RowFilter {
  const [only] = asked;
  if (only && asked.length === 1 && !only.sql.isSteady.includes(false)) {
    const values = only.sql.values(scope);
    const form = only.rule.key;
    return { form, values, bound: `${form}\n${toJson([values])}`, where: only.sql.where };
  }
  const values = asked.map(({ sql }) => sql.values(scope));
  const steady = asked.map(({ sql }, index) => values[index]?.filter((_, at) => sql.isSteady[at]) ?? []);
  const form = asked.map(({ rule }) => rule.key).join('\n');
  return {
    form,
    values: values.flat(),
    bound: `${form}\n${toJson(steady)}`,
    where(first) {
      let next = first;
      const of = asked.map(({ sql }, index) => {
        const condition = sql.where(next);
        next += values[index]?.length ?? 0;
        return condition;
      });
      return of.length === 1 ? (of[0] as Condition) : { op: 'or', of };
    },
  };
}

/** The condition of a list's rule, as a database decides it. */
export interface ListRule {
  /** The condition with its parameters counted from this one on. */
  where(first: number): Condition;
  /** The parameters of one request. */
  values(scope: Bindings): Scalar[];
  /** Which of them stay the same from page to page: those that do not read the clock. */
  readonly isSteady: readonly boolean[];
  /** The columns that have to equal something for the condition to hold. */
  readonly equal: readonly string[];
}

/** Translates the condition of a rule over the rows of a resource, and asks for the columns that it needs; nothing where no database can decide it. */
export function compileListRule(
  spec: Spec,
  resource: string,
  condition: PreparedExpression,
  columns: RuleColumns,
): ListRule | undefined {
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
    return columnOf(one, resource, columns, operand);
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
      return { op: 'absent', of: columnOf(filter.of, resource, columns, operand, true) };
    default:
      return { op: filter.op, left: operand(filter.left), right: operand(filter.right) };
  }
}

/** `isAsked` = whether something is there, and not what it is. */
function columnOf(
  field: FilterField,
  resource: string,
  columns: RuleColumns,
  operand: (one: FilterOperand) => Operand,
  isAsked = false,
): Operand {
  if ('find' in field) {
    const by = field.by.map(({ field: name, type, is }) => ({ column: columns.name(field.find, [name], type), is: operand(is) }));
    columns.seek(
      field.find,
      by.map(({ column }) => column),
    );
    const then = columnOf(field.then, field.find, columns, operand, isAsked);
    return { by, table: field.find, then };
  }
  if ('via' in field) {
    const via = columns.name(resource, field.via, 'id');
    const then = columnOf(field.then, field.resource, columns, operand, isAsked);
    return { via, table: field.resource, then };
  }
  const use: ColumnUse = isAsked || field.type === 'any' ? 'presence' : field.type;
  return { column: columns.name(resource, field.field, use) };
}

function plainScalar(value: Exclude<FilterValue, readonly unknown[]>): Scalar {
  return typeof value === 'boolean' ? Number(value) : value;
}

function scalarOf(param: DecidedParam, scope: Bindings): Scalar {
  // A scope holds JSON values, a clock and a follower by name, which is what a context is.
  const value = filterParam(param, scope as EvaluationContext);
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
    case 'some':
    case 'any':
      return { ...condition, of: moved(condition.of, by) };
    default:
      return { op: condition.op, left: movedOperand(condition.left, by), right: movedOperand(condition.right, by) };
  }
}

function movedOperand(operand: Operand, by: number): Operand {
  if ('param' in operand) return { param: operand.param + by };
  if ('by' in operand) {
    const found = operand.by.map(({ column, is }) => ({ column, is: movedOperand(is, by) }));
    const then = movedOperand(operand.then, by);
    return { ...operand, by: found, then };
  }
  if (!('via' in operand)) return operand;
  const then = movedOperand(operand.then, by);
  return { ...operand, then };
}

function equalColumns(condition: Condition): string[] {
  if (condition.op === 'and') return condition.of.flatMap(equalColumns);
  if (condition.op !== '=') return [];
  const columns = [condition.left, condition.right].flatMap((operand) => ('column' in operand ? [operand.column] : []));
  // Two fields of a row that equal each other are found by neither.
  return columns.length === 1 ? columns : [];
}
