import type { Pointer } from '../document/document.ts';
import { type Expression, entriesOf, entryOf, type Fact, statedValue } from './fact.ts';
import type { Resource } from './resources.ts';
import type { Source } from './source.ts';

/** How many rows of a resource there may be. */
export interface RowLimit {
  readonly at: Pointer;
  readonly of: string;
  /** What is counted apart, as it is written; absent = all rows together. */
  readonly per?: string;
  /** Which rows count; absent = all. */
  readonly while?: Expression;
  readonly limit: number;
}

export function readRowLimits(source: Source): readonly RowLimit[] {
  return (source.isMap ? [source] : source.items()).map((one): RowLimit => {
    const per = one.get('per').text();
    const condition = one.get('while').expression();
    return {
      at: one.at,
      of: one.get('of').text() ?? '',
      ...(per !== undefined && { per }),
      ...(condition && { while: condition }),
      limit: one.get('limit').number() ?? Number.NaN,
    };
  });
}

/** The limits of a resource's rows, in the order of the document. */
export function rowLimitsOf(
  { limits }: { readonly limits: { readonly rows: Fact<readonly RowLimit[]> } },
  resource: string,
): readonly RowLimit[] {
  return (statedValue(limits.rows) ?? []).filter(({ of }) => of === resource);
}

/**
 * The field that says what a row is counted as: one by its name, or the one that is set to the same expression where a row is made
 * (`caller.id`). Nothing where there is none.
 */
export function fieldCountedApart({ per = '' }: RowLimit, { fields }: Pick<Resource, 'fields'>): string | undefined {
  const name = per.replace(/^next\./, '');
  if (entryOf(fields, name) !== undefined) return name;
  const isMeant = (expression: Expression | undefined) => expression?.source.trim() === per.trim();
  return entriesOf(fields).find(([, { set }]) => isMeant(set.create) || isMeant(set.write))?.[0];
}
