import type { ColumnSpec, Condition, Operand, Scalar } from '../store.ts';
import { arrayText, sqlTypes, type TableShape, valueText, written } from './dialect.ts';

/** Gives what stands for one `$n` when the parameters of a question come. */
export type GivenBinding = (params: readonly Scalar[]) => string | null;

type Type = ColumnSpec['type'];

/** The table that columns are named of, how to find others, and what the `$n` stand for. */
export interface ConditionScope {
  readonly shape: TableShape;
  readonly alias: string;
  readonly find: (table: string) => TableShape;
  readonly bindings: GivenBinding[];
  /** The parameters that the text is made for: their types count, their values do not. */
  readonly params: readonly Scalar[];
  /** What the scalars of an array are named of, inside an `any`. */
  readonly item?: string;
}

/** A condition as SQL. What its `$n` stand for is added to the bindings. */
export function postgresCondition(scope: ConditionScope, condition: Condition): string {
  switch (condition.op) {
    case 'true':
    case 'false':
      return condition.op;
    case 'and':
    case 'or': {
      if (condition.of.length === 0) return condition.op === 'and' ? 'true' : 'false';
      return `(${condition.of.map((part) => postgresCondition(scope, part)).join(` ${condition.op} `)})`;
    }
    case 'not':
      return `(NOT ${postgresCondition(scope, condition.of)})`;
    case 'absent':
      return `(${operandSql(scope, condition.of, typeOf(scope, condition.of) ?? 'text')} IS NULL)`;
    case 'in':
      return inSql(scope, condition.left, condition.right);
    case 'prefix':
      return prefixSql(scope, condition.left, condition.right);
    case 'some':
      return someSql(scope, condition);
    case 'any': {
      const item = `${scope.alias}e`;
      const list = `${scope.alias}.${scope.shape.column(condition.column).sql}`;
      return `EXISTS (SELECT 1 FROM json_array_elements_text((${list})::json) AS ${item}(value) WHERE ${postgresCondition({ ...scope, item }, condition.of)})`;
    }
    case 'contains': {
      const [left, right] = [operandSql(scope, condition.left, 'text'), operandSql(scope, condition.right, 'text')];
      // What is written for U+0000 and U+0001 could be found half: such texts are compared as the bytes that they stand for.
      const plain = `strpos(${left}, ${right}) > 0`;
      return `(CASE WHEN strpos(${left}, E'\\x01') = 0 THEN ${plain} ELSE position(${bytesSql(right)} IN ${bytesSql(left)}) > 0 END)`;
    }
    default: {
      const [left, right] = [typeOf(scope, condition.left), typeOf(scope, condition.right)];
      const type = left === right || right === undefined ? left : left === undefined ? right : common(condition, left, right);
      return `(${operandSql(scope, condition.left, type ?? 'text')} ${condition.op} ${operandSql(scope, condition.right, type ?? 'text')})`;
    }
  }
}

/** Whether there is such a row: the one that is referred to, or one that refers to this row. */
function someSql(scope: ConditionScope, condition: Extract<Condition, { op: 'some' }>): string {
  const shape = scope.find(condition.table);
  const alias = `${scope.alias}v`;
  const { by } = condition;
  const own = 'to' in by ? scope.shape.column(by.to).sql : 'id';
  const other = 'from' in by ? shape.column(by.from).sql : 'id';
  const of = postgresCondition({ ...scope, shape, alias }, condition.of);
  return `EXISTS (SELECT 1 FROM ${shape.sql} AS ${alias} WHERE ${alias}.${other} = ${scope.alias}.${own} AND ${of})`;
}

/** The type in which values of two types are compared: that of a column where the other one fits into it. */
function common({ left, right }: { left: Operand; right: Operand }, a: Type, b: Type): Type | 'numeric' {
  if (a !== 'text' && b !== 'text') {
    const [fixed, free] = isGiven(left) ? [b, a] : [a, b];
    return isGiven(left) === isGiven(right) || (fixed === 'integer' && free === 'real') ? 'numeric' : fixed;
  }
  return 'text';
}

function isGiven(operand: Operand): boolean {
  return 'param' in operand || 'value' in operand;
}

/** The type that an operand has by itself; nothing of an absent value. */
function typeOf(scope: ConditionScope, operand: Operand): Type | undefined {
  if ('column' in operand) return scope.shape.column(operand.column).type;
  if ('item' in operand) return operand.item;
  if ('then' in operand) return typeOf({ ...scope, shape: scope.find(operand.table) }, operand.then);
  const value = 'param' in operand ? scope.params[operand.param] : operand.value;
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') return 'text';
  return typeof value === 'bigint' || Number.isInteger(value) ? 'integer' : 'real';
}

/** An operand in the type in which it is compared. */
function operandSql(scope: ConditionScope, operand: Operand, type: Type | 'numeric'): string {
  if ('param' in operand || 'value' in operand) {
    const binding: GivenBinding =
      'param' in operand ? (params) => valueText(params[operand.param] ?? null) : () => valueText(operand.value);
    return given(scope, binding, type === 'integer' && isWide(scope, operand) ? 'numeric' : type);
  }
  const own = typeOf(scope, operand);
  const sql = ownSql(scope, operand);
  return own === type || type === 'numeric' ? sql : `CAST(${sql} AS ${sqlTypes[type]})`;
}

function ownSql(
  scope: ConditionScope,
  operand: Exclude<Operand, { readonly param: number } | { readonly value: Scalar }>,
): string {
  if ('column' in operand) return `${scope.alias}.${scope.shape.column(operand.column).sql}`;
  if ('item' in operand)
    return operand.item === 'text'
      ? `(${scope.item}.value COLLATE "C")`
      : `CAST(${scope.item}.value AS ${sqlTypes[operand.item]})`;
  const shape = scope.find(operand.table);
  const alias = `${scope.alias}v`;
  const inner = { ...scope, shape, alias };
  const value = operandSql(inner, operand.then, typeOf(inner, operand.then) ?? 'text');
  if ('by' in operand) {
    const keys = operand.by.map(({ column, is }) => {
      const { sql, type } = shape.column(column);
      return `${alias}.${sql} = ${operandSql(scope, is, type)}`;
    });
    return `(SELECT ${value} FROM ${shape.sql} AS ${alias} WHERE ${keys.join(' AND ')} LIMIT 1)`;
  }
  return `(SELECT ${value} FROM ${shape.sql} AS ${alias} WHERE ${alias}.id = ${scope.alias}.${scope.shape.column(operand.via).sql})`;
}

/** Whether a given whole number has more than 64 bits. */
function isWide(scope: ConditionScope, operand: { readonly param: number } | { readonly value: Scalar }): boolean {
  const value = 'param' in operand ? scope.params[operand.param] : operand.value;
  return (typeof value === 'number' || typeof value === 'bigint') && !isInt64(value);
}

function isInt64(value: number | bigint): boolean {
  return typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Math.abs(value) < 2 ** 63;
}

function given(scope: ConditionScope, binding: GivenBinding, type: Type | 'numeric'): string {
  scope.bindings.push(binding);
  const sql = `$${scope.bindings.length}::${type === 'numeric' ? type : sqlTypes[type]}`;
  return type === 'text' ? `(${sql} COLLATE "C")` : `(${sql})`;
}

function inSql(scope: ConditionScope, left: Operand, right: Operand): string {
  const type = typeOf(scope, left) ?? 'text';
  const list: GivenBinding = (params) => {
    const value = 'param' in right ? params[right.param] : 'value' in right ? right.value : null;
    if (value === null || value === undefined) return null;
    return arrayText(listed(String(value)).flatMap((entry) => fitting(entry, type)));
  };
  scope.bindings.push(list);
  const place = scope.bindings.length;
  return `(${operandSql(scope, left, type)} = ANY($${place}::${sqlTypes[type]}[]))`;
}

/** The scalars of a JSON array, whole numbers exactly. */
function listed(json: string): Scalar[] {
  const exact = (_: string, value: unknown, { source = '' }: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
  // The third argument of a reviver is newer than the compiler's own types, and a list holds scalars alone.
  return JSON.parse(json, exact as (name: string, value: unknown) => unknown) as Scalar[];
}

/** An entry of a list as a value of a type; one that no value of the type equals is left out. */
function fitting(entry: Scalar, type: Type): Scalar[] {
  if (entry === null) return [null];
  if (type === 'text') return [valueText(entry)];
  if (typeof entry === 'string') return [];
  if (type === 'real') return [Number(entry)];
  return (typeof entry === 'bigint' || Number.isInteger(entry)) && isInt64(entry) ? [entry] : [];
}

/** The bytes that a written text stands for. */
function bytesSql(text: string): string {
  const doubled = `replace(${text}, '\\', '\\\\')`;
  return `decode(replace(replace(${doubled}, E'\\x01\\x01', '\\000'), E'\\x01\\x02', '\\001'), 'escape')`;
}

/** Text begins with another when it lies between that and the first text behind all that do: one range of an index. */
function prefixSql(scope: ConditionScope, left: Operand, right: Operand): string {
  const [text, beginning] = [operandSql(scope, left, 'text'), operandSql(scope, right, 'text')];
  const parts = [`${text} >= ${beginning}`, `starts_with(${text}, ${beginning})`];
  if ('param' in right || 'value' in right) {
    const behind: GivenBinding = (params) => {
      const value = 'param' in right ? (params[right.param] ?? null) : right.value;
      return value === null ? null : behindAll(written(String(value)));
    };
    parts.push(`${text} < ${given(scope, behind, 'text')}`);
  }
  return `(${parts.join(' AND ')})`;
}

const LAST = 0x10ffff;

/** The first text that is greater than all that begin with this one. */
function behindAll(beginning: string): string {
  const points = Array.from(beginning, (one) => one.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return String.fromCodePoint(LAST).repeat(64);
  // The halves of surrogate pairs are no characters.
  points.push(last + 1 >= 0xd800 && last + 1 <= 0xdfff ? 0xe000 : last + 1);
  return String.fromCodePoint(...points);
}
