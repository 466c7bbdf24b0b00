/** A condition over rows that a database can decide, and its parameters. */

import { type CelValue, type EvaluationContext, Failed } from './cel-value.ts';
import type { CompiledExpression } from './compile.ts';

/**
 * A condition over rows that a database can decide. What it says of a row is what the expression says of it; where the
 * expression fails, it is null, by the rules of SQL (null and false = false, null or true = true), and the row is not meant.
 */
export type Filter =
  | { readonly op: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: Filter }
  | { readonly op: '=' | '!=' | '<' | '<=' | '>' | '>='; readonly left: FilterOperand; readonly right: FilterOperand }
  | { readonly op: 'prefix' | 'contains'; readonly left: FilterOperand; readonly right: FilterOperand }
  /** `right` comes to a list. */
  | { readonly op: 'in'; readonly left: FilterOperand; readonly right: FilterOperand }
  | { readonly op: 'absent'; readonly of: FilterField }
  | { readonly op: 'true' | 'false' };

export type FilterOperand = FilterField | FilterParam | { readonly value: FilterScalar };

/** A value that does not read the row. */
export interface FilterParam {
  readonly param: number;
}

export type FilterField =
  | { readonly field: readonly string[]; readonly type: FilterKind }
  /** A field of the row that the reference at `via` refers to. */
  | { readonly via: readonly string[]; readonly resource: string; readonly then: FilterField }
  /** A field of the one row whose fields have these values. */
  | { readonly find: string; readonly by: readonly FilterKey[]; readonly then: FilterField };

/** A field that a row is found by, and the value that it has to have. */
export interface FilterKey {
  readonly field: string;
  readonly type: Exclude<FilterKind, 'any'>;
  readonly is: FilterOperand;
}

/** Times are milliseconds since 1970. */
type FilterScalar = string | number | bigint | boolean;
export type FilterValue = FilterScalar | null | readonly (FilterScalar | null)[];

/** What a column holds, as far as comparing goes: `id` = an identifier as text, `any` where nothing says. */
export type FilterKind = 'bool' | 'int' | 'double' | 'string' | 'id' | 'timestamp' | 'any';

/** What does not read the row: it is evaluated before the rows are looked at. */
export interface DecidedParam {
  readonly compiled: CompiledExpression;
  /** What it is compared with: a value of another kind equals nothing, and counts as failed. */
  readonly kind: FilterKind;
}

/** What a parameter of a filter comes to; null where it fails. */
export function filterParam({ compiled, kind }: DecidedParam, context: EvaluationContext): FilterValue {
  const value = compiled.value(context);
  if (value instanceof Failed) return null;
  if (!Array.isArray(value)) return toFilterValue(value, kind);
  return value.map((item) => toFilterValue(item, kind)).filter((item) => item !== null);
}

function toFilterValue(value: CelValue, kind: FilterKind): FilterScalar | null {
  if (value instanceof Date) return kind === 'timestamp' || kind === 'any' ? value.getTime() : null;
  if (typeof value === 'bigint') return numeric(kind) ? (Number.isSafeInteger(Number(value)) ? Number(value) : value) : null;
  if (typeof value === 'number') return numeric(kind) && !Number.isNaN(value) ? value : null;
  if (typeof value === 'string') return kind === 'string' || kind === 'id' || kind === 'any' ? value : null;
  return typeof value === 'boolean' && (kind === 'bool' || kind === 'any') ? value : null;
}

function numeric(kind: FilterKind): boolean {
  return kind === 'int' || kind === 'double' || kind === 'any';
}
