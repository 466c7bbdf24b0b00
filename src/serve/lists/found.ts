import type { FoundRow, Reader } from '../../store/store.ts';
import type { RowFilter } from '../access/listing.ts';
import type { Position } from './cursor.ts';
import { type Question, type Test, valuesOf } from './query.ts';

/** Which rows make a page. */
export interface Asked {
  readonly question: Question;
  readonly tests: readonly Test[];
  readonly filter: RowFilter | undefined;
  readonly size: number;
  readonly offset: number | undefined;
  /** The row that it goes on after. */
  readonly start: Position | undefined;
}

/** The rows of a page, in their order, and the rows at its ends, where somebody asks for them. */
export interface Found {
  /** The rows; or their texts, with commas between them. */
  readonly items: readonly FoundRow[] | string;
  readonly first: FoundRow | undefined;
  readonly last: FoundRow | undefined;
  /** Whether more rows follow in the direction of reading. */
  readonly isMore: boolean;
}

/** Finds rows that are shown one by one. */
export function findRows(rows: Reader, { question, tests, filter, size, offset, start }: Asked): Found & { items: FoundRow[] } {
  const isReversed = start?.back ?? false;
  const way = { isReversed, isContinued: start !== undefined, isOffset: offset !== undefined, wants: 'rows' } as const;
  const items = rows.all(question.ask(way), valuesOf(tests, filter, size + 1, offset, start));
  const isMore = items.length > size;
  if (isMore) items.pop();
  if (isReversed) items.reverse();
  return { items, first: items[0], last: items.at(-1), isMore };
}

/** Finds rows that are passed on as they are: the last of them is looked at only where another one follows, the first where `wantsFirst`. */
export function findTexts(
  rows: Reader,
  { question, tests, filter, size, offset, start }: Asked,
  wantsFirst: boolean,
): Found & { items: string } {
  const isContinued = start !== undefined;
  const joined = question.ask({ isReversed: false, isContinued, isOffset: offset !== undefined, wants: 'joined' });
  const places = question.ask({ isReversed: false, isContinued, isOffset: true, wants: 'places' });
  const place = (at: number, most: number) => rows.all(places, valuesOf(tests, filter, most, (offset ?? 0) + at, start));
  const [last, next] = place(size - 1, 2);
  return {
    items: rows.joined(joined, valuesOf(tests, filter, size, offset, start)),
    first: wantsFirst ? place(0, 1)[0] : undefined,
    last,
    isMore: next !== undefined,
  };
}
