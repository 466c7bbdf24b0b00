import type { Parameter } from '../../parts/parameters.ts';
import type { Exchange, Refusal } from '../exchange.ts';
import type { RowModel } from '../rows/model.ts';
import { describeValue } from '../wire/violation.ts';
import type { SortKey } from './query.ts';
import { refuseParameter } from './unseen.ts';

/** The stated order, or the one that the request asks for: `-created_at`, or several of them. */
export function orderOf(
  exchange: Exchange,
  sorter: Parameter | undefined,
  fixed: readonly SortKey[],
  model: RowModel,
  sortable: ReadonlySet<string> | undefined,
  hidden: ReadonlySet<string>,
): readonly SortKey[] | { readonly refusal: Refusal } {
  const asked = sorter && exchange.params[sorter.name];
  if (!sorter || asked === undefined) return fixed;
  const words = (Array.isArray(asked) ? asked.map(String) : String(asked).split(',')).map((word) => word.trim());
  const fields = words.map((word) => word.replace(/^[-+]/, ''));
  const unknown = words.find((_, index) => sortable && !sortable.has(fields[index] as string));
  if (sortable && unknown !== undefined) {
    const expected = `one of ${[...sortable].join(', ')}`;
    return { refusal: refuseParameter({ in: sorter.in, path: sorter.name, found: describeValue(unknown), expected }) };
  }
  const unseen = words.find((_, index) => hidden.has(fields[index] as string));
  if (unseen !== undefined) {
    const expected = 'no order by a field that you do not see';
    return { refusal: refuseParameter({ in: sorter.in, path: sorter.name, found: describeValue(unseen), expected }) };
  }
  const keys = new Map<string, SortKey>();
  for (const word of words) {
    const column = word.replace(/^[-+]/, '');
    if (model.code(column) && !keys.has(column)) keys.set(column, { column, descending: word.startsWith('-') });
  }
  return [...keys.values()];
}
