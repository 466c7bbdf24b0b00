import type { Spec } from '../spec.ts';
import { Failed, type Value } from './cel-value.ts';
import { type Compiled, compileNode } from './compile.ts';
import type { Filter, FilterKind, FilterScalar, FilterValue } from './filter.ts';
import { FilterWriter, Standing } from './filter-writer.ts';
import type { Context } from './frame.ts';
import { infer } from './infer.ts';
import { parseExpression } from './parse.ts';
import type { Scope } from './scope.ts';

export interface Decidable {
  readonly filter: Filter;
  /** What does not read the row, by the index under which the filter speaks of it: evaluated before the rows are looked at. */
  readonly params: readonly DecidedParam[];
}

export interface DecidedParam {
  readonly compiled: Compiled;
  /** What it is compared with: a value of another kind equals nothing, and counts as failed. */
  readonly kind: FilterKind;
}

/** Why no database can decide a condition. Offsets are into its text. */
export interface Undecidable {
  readonly undecidable: string;
  readonly offset: number;
  readonly length: number;
}

/** Translates a condition over `resource`, each row, so that a database can decide it. */
export function toFilter(
  spec: Spec,
  use: { readonly source: string; readonly scope: Scope },
  row = 'resource',
): Decidable | Undecidable {
  const parsed = parseExpression(use.source);
  if ('unparsed' in parsed) return { undecidable: parsed.unparsed.message, offset: parsed.unparsed.start, length: 0 };
  const inferred = infer(spec, use.scope, use.source, parsed.node);
  const writer = new FilterWriter(inferred.types, use.source, row);
  try {
    const filter = writer.write(parsed.node, true);
    const any = { scope: use.scope, expected: { shape: {} } };
    return {
      filter,
      params: writer.params.map(({ node, kind }) => ({ compiled: compileNode(spec, use.source, node, inferred, any), kind })),
    };
  } catch (error) {
    if (!(error instanceof Standing)) throw error;
    const { start, end } = error.node;
    return { undecidable: error.message, offset: start, length: end - start };
  }
}

/** What a parameter of a filter comes to; null where it fails. */
export function filterParam({ compiled, kind }: DecidedParam, context: Context): FilterValue {
  const value = compiled.value(context);
  if (value instanceof Failed) return null;
  if (!Array.isArray(value)) return toFilterValue(value, kind);
  return value.map((item) => toFilterValue(item, kind)).filter((item) => item !== null);
}

function toFilterValue(value: Value, kind: FilterKind): FilterScalar | null {
  if (value instanceof Date) return kind === 'timestamp' || kind === 'any' ? value.getTime() : null;
  if (typeof value === 'bigint') return numeric(kind) ? (Number.isSafeInteger(Number(value)) ? Number(value) : value) : null;
  if (typeof value === 'number') return numeric(kind) && !Number.isNaN(value) ? value : null;
  if (typeof value === 'string') return kind === 'string' || kind === 'any' ? value : null;
  return typeof value === 'boolean' && (kind === 'bool' || kind === 'any') ? value : null;
}

function numeric(kind: FilterKind): boolean {
  return kind === 'int' || kind === 'double' || kind === 'any';
}
