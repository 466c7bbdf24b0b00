import type { Resource } from '../../parts/resources.ts';
import { fieldCountedApart, rowLimitsOf } from '../../parts/row-limits.ts';
import type { ColumnSpec, QuerySpec, Reader, Scalar } from '../../store/store.ts';
import { canonical } from '../exchange/column.ts';
import type { Compilation } from '../exchange/compilation.ts';
import { type Fields, Refused } from '../exchange/exchange.ts';

/** How many rows of a resource there may be that count as one. */
export interface CountedRows {
  readonly column: ColumnSpec;
  /** What a row counts as; null where it does not count. */
  readonly read: (fields: Fields) => Scalar;
  readonly limit: number;
  /** The rows that count as the first parameter. */
  readonly query: QuerySpec;
}

/** Compiles the limits of a resource's rows. What a row counts as is kept with it, so that those that count together are found by an index. */
export function compileCountedRows(resource: Resource, compilation: Compilation): readonly CountedRows[] {
  return rowLimitsOf(compilation.spec, resource.name).map((rule, index): CountedRows => {
    const name = `counted ${index}`;
    const field = rule.per === undefined ? undefined : fieldCountedApart(rule, resource);
    const holds = rule.while && compilation.expression(rule.while);
    return {
      column: { name, type: 'text', made: JSON.stringify([field ?? null, rule.while?.source ?? null]) },
      read(fields) {
        if (holds && holds({ next: fields }) !== true) return null;
        if (field === undefined) return '';
        const value = fields[field];
        return value === undefined || value === null ? null : canonical(value);
      },
      limit: rule.limit,
      query: { table: resource.name, where: { op: '=', left: { column: name }, right: { param: 0 } } },
    };
  });
}

/** Sees to it that a row which was stored is not one too many. @throws {Refused} `limit.quota` where it is. */
export function holdRowLimits(
  rows: Pick<Reader, 'count'>,
  counted: readonly CountedRows[],
  before: Fields | undefined,
  after: Fields,
): void {
  for (const { read, limit, query } of counted) {
    const key = read(after);
    // A row that counted as the same before makes no more of them.
    if (key === null || (before && read(before) === key)) continue;
    if (rows.count(query, [key]) > limit) throw new Refused({ when: 'limit.quota' });
  }
}
