import type { FoundRow, Reader } from '../../../store/store.ts';
import type { RowModel } from '../model.ts';
import type { Narrowed } from '../stand-in.ts';
import { findRows, type PageQuery } from './envelope.ts';

/** How many rows are looked at, at the most. */
const lookedAtMost = 10_000;

/** Finds the rows of a page of those that a stand-in keeps, in its order; they are looked at one by one. */
export function findNarrowed(
  rows: Reader,
  query: PageQuery,
  { keeps, order }: Narrowed,
  model: RowModel,
): ReturnType<typeof findRows> & { readonly total: number } {
  const { size, offset = 0, start } = query;
  const all = findRows(rows, { ...query, size: lookedAtMost, offset: undefined, start: undefined }).items;
  const kept = all.map((row) => ({ row, fields: model.parse(row) })).filter(({ fields }) => keeps(fields));
  if (order) kept.sort((one, other) => order(one.fields, other.fields));
  const found = kept.map(({ row }) => row);
  const at = start ? placeAfter(found, start.seq) : offset;
  const [from, to] = start?.back ? [Math.max(0, at - 1 - size), Math.max(0, at - 1)] : [at, at + size];
  const items = found.slice(from, to);
  const isMore = start?.back ? from > 0 : to < found.length;
  return { items, first: items[0], last: items.at(-1), following: isMore ? found[to] : undefined, isMore, total: found.length };
}

/** Where the list goes on after a row, or after the place just before one. */
function placeAfter(found: readonly FoundRow[], seq: number): number {
  const at = found.findIndex((row) => row.seq === seq);
  return at >= 0
    ? at + 1
    : Math.max(
        0,
        found.findIndex((row) => row.seq === seq + 1),
      );
}
