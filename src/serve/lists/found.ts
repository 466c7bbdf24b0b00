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
  const way = { isReversed, isContinued: start !== undefined, isOffset: offset !== undefined };
  const items = rows.all(question.ask(way), valuesOf(tests, filter, size + 1, offset, start));
  const isMore = items.length > size;
  if (isMore) items.pop();
  if (isReversed) items.reverse();
  return { items, first: items[0], last: items.at(-1), isMore };
}

/** Finds rows that are passed on as they are; the row at an end is looked at where a page is told by it. */
export function findTexts(
  rows: Reader,
  { question, tests, filter, size, offset, start }: Asked,
  wantsFirst: boolean,
): Found & { items: string } {
  const query = question.ask({ isReversed: false, isContinued: start !== undefined, isOffset: offset !== undefined });
  const { docs, isMore, first, last } = rows.joined(query, valuesOf(tests, filter, size, offset, start), wantsFirst);
  return { items: docs, first, last, isMore };
}
