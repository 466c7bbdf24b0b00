import { Failed, type Value } from './cel-value.ts';
import type { CompiledExpression } from './compile.ts';
import type { FilterKind, FilterScalar, FilterValue } from './filter-form.ts';
import type { EvaluationContext } from './frame.ts';

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

function toFilterValue(value: Value, kind: FilterKind): FilterScalar | null {
  if (value instanceof Date) return kind === 'timestamp' || kind === 'any' ? value.getTime() : null;
  if (typeof value === 'bigint') return numeric(kind) ? (Number.isSafeInteger(Number(value)) ? Number(value) : value) : null;
  if (typeof value === 'number') return numeric(kind) && !Number.isNaN(value) ? value : null;
  if (typeof value === 'string') return kind === 'string' || kind === 'id' || kind === 'any' ? value : null;
  return typeof value === 'boolean' && (kind === 'bool' || kind === 'any') ? value : null;
}

function numeric(kind: FilterKind): boolean {
  return kind === 'int' || kind === 'double' || kind === 'any';
}
