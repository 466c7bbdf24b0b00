import { pageStyle } from '../../../kinds/pages/all.ts';
import { parametersOf } from '../../../kinds/pages/kind.ts';
import { isCut, type Pagination } from '../../../parts/limits.ts';
import type { FoundRow, Reader, RowNumbers } from '../../../store/store.ts';
import type { RowFilter } from '../../callers/list-access.ts';
import type { Fields } from '../../exchange/exchange.ts';
import type { Call } from '../../http/call.ts';
import type { PageTold } from '../stand-in.ts';
import { type Position, type Question, type Test, valuesOf } from './query.ts';

/** Whether the answers of a list say where the page before it is. */
export function tellsPrevious(pagination: Pagination | undefined): boolean {
  return pagination !== undefined && (pagination.isToldInLink || pagination.previous !== undefined);
}

/** Puts the joined texts of a page's rows into the stated envelope: what comes before them, and what comes after. Without one, they are a bare array. */
export type PageEnvelope = (page: Page, call: Pick<Call, 'path'>) => readonly [head: string, tail: string];

export function compileEnvelope(pagination: Pagination | undefined): PageEnvelope {
  const items = pagination?.items;
  if (!pagination || items === undefined) return () => bareArray;
  const constants = Object.entries(pagination.data)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`)
    .join('');
  const head = `{${constants}${JSON.stringify(items)}:[`;
  const { isToldInBody } = pagination;
  const told: readonly (readonly [name: string | undefined, of: 'next' | 'previous' | 'hasMore' | 'total'])[] = [
    [isToldInBody ? pagination.next : undefined, 'next'],
    [isToldInBody ? pagination.previous : undefined, 'previous'],
    [pagination.hasMore, 'hasMore'],
    [pagination.total, 'total'],
  ];
  const members = told.flatMap(([name, of]) => (name === undefined ? [] : [{ start: `,${JSON.stringify(name)}:`, of }]));
  const self = pagination.self === undefined ? undefined : `,${JSON.stringify(pagination.self)}:`;
  return (page, { path }) => {
    let tail = self === undefined ? ']' : `]${self}${JSON.stringify(path)}`;
    for (const { start, of } of members) tail += start + JSON.stringify(page[of]);
    return [head, `${tail}}`];
  };
}

const bareArray = ['[', ']'] as const;

/** A page in the stated envelope as a value; nothing where there is none. */
export function envelopeOf(
  pagination: Pagination | undefined,
  items: readonly Fields[],
  page: Page,
  { path }: Pick<Call, 'path'>,
): Fields | undefined {
  if (pagination?.items === undefined) return undefined;
  const { next, previous, hasMore, total, self, isToldInBody, data } = pagination;
  const out: Fields = { ...data, [pagination.items]: items };
  if (next !== undefined && isToldInBody) out[next] = page.next;
  if (previous !== undefined && isToldInBody) out[previous] = page.previous;
  if (hasMore !== undefined) out[hasMore] = page.hasMore;
  if (total !== undefined) out[total] = page.total;
  if (self !== undefined) out[self] = path;
  return out;
}

/** The addresses that lead from a page to those around it, where it is one of several. */
export interface PageLinks {
  /** The `Link` header of a page (RFC 8288); nothing where pages are not told by it. */
  header(page: Page, call: Call): string | undefined;
  /** The address of the next page; null where there is none. */
  next(page: Page, call: Call): string | null;
  previous(page: Page, call: Call): string | null;
}

/** What a stand-in says around the rows of a page. */
export function pageTold(page: Page, shown: number, call: Call, links: PageLinks): PageTold {
  const { total, size, isCut: cut, skipped, firstPage = 1, hasMore, next, previous } = page;
  return {
    shown,
    total,
    size: cut ? size : undefined,
    skipped,
    firstPage,
    hasMore,
    next,
    previous,
    nextUrl: links.next(page, call),
    previousUrl: links.previous(page, call),
    link: links.header(page, call),
    url: addressAsked(call),
  };
}

/** The whole address that was asked. */
export function addressAsked(call: Call): string {
  return `${hostAsked(call)}${call.path}${call.query === '' ? '' : `?${call.query}`}`;
}

/**
 * Compiles the links of pages: the caller's own query with the paging parameters changed.
 * `isAbsolute`: with the host that was asked, for clients that follow nothing else.
 */
export function compileLinks(pagination: Pagination | undefined, secrets: readonly string[] = [], isAbsolute = false): PageLinks {
  if (!isCut(pagination)) return { header: () => undefined, next: () => null, previous: () => null };
  const style = pageStyle(pagination.style);
  const names = parametersOf(style, pagination);
  const forward = names.find(({ parameter }) => parameter.leads !== 'back')?.name;
  const backward = names.find(({ parameter }) => parameter.leads !== 'forward')?.name;
  // A credential in the query is not said again: whoever follows a link shows it anew.
  const own = [...names.map(({ name }) => name), ...secrets];
  const address = (call: Call, name: string | undefined, value: string | number | undefined) =>
    `${isAbsolute ? hostAsked(call) : ''}${withParameter(call, own, name, value)}`;
  // An identifier tells what stands after it, and not whether it is the first.
  const tellsFirst = style.tells !== 'identifier';
  const { isToldInLink } = pagination;
  return {
    header(page, call) {
      if (!isToldInLink) return undefined;
      const links: string[] = [];
      if (page.next !== null) links.push(`<${address(call, forward, page.next)}>; rel="next"`);
      if (page.previous !== null && backward !== undefined) links.push(`<${address(call, backward, page.previous)}>; rel="prev"`);
      if (tellsFirst || page.previous !== null) links.push(`<${address(call, undefined, undefined)}>; rel="first"`);
      return links.join(', ');
    },
    next: (page, call) => (page.next === null ? null : address(call, forward, page.next)),
    previous: (page, call) => (page.previous === null || backward === undefined ? null : address(call, backward, page.previous)),
  };
}

/** The scheme and host that were asked; nothing where none was named. */
export function hostAsked({ headers: { host } }: Call): string {
  return typeof host === 'string' ? `http://${host}` : '';
}

function withParameter(
  call: Call,
  dropped: readonly string[],
  name: string | undefined,
  value: string | number | undefined,
): string {
  const query = new URLSearchParams(call.query);
  for (const old of dropped) query.delete(old);
  if (name !== undefined && value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? call.path : `${call.path}?${text}`;
}

/** A page of rows, and where the pages around it start. */
export interface Page {
  /** The rows; or their texts, with commas between them. */
  readonly items: PageRows['items'];
  readonly hasMore: boolean;
  /** What the parameter of the next page takes. */
  readonly next: string | number | null;
  readonly previous: string | number | null;
  readonly total: number | undefined;
  readonly size: number;
  /** Whether the list is cut into pages of that size, and how many rows stand before this one, where that is known. */
  readonly isCut?: boolean;
  readonly skipped?: number | undefined;
  /** The number of the first page, where pages have numbers. */
  readonly firstPage?: number;
  /** Whether pagination is open and this list is longer than goes without it. */
  readonly isInDoubt: boolean;
}

/** A page whose rows are too many to be read at once. */
export interface LongPage extends Page {
  readonly long: LongRows;
}

/** The rows of a long page: their creation numbers as they were at one moment, and what leads to those that are still to be shown. */
export interface LongRows {
  readonly numbers: RowNumbers;
  readonly rowsOf: (rows: Reader, numbers: readonly number[]) => FoundRow[];
}

/** Which rows make a page. */
export interface PageQuery {
  readonly question: Question;
  readonly tests: readonly Test[];
  readonly filter: RowFilter | undefined;
  readonly size: number;
  readonly offset: number | undefined;
  /** The row that it goes on after. */
  readonly start: Position | undefined;
}

/** The rows of a page, in their order, and the rows at its ends, where somebody asks for them. */
interface PageRows {
  /** The rows; or their texts, with commas between them. */
  readonly items: readonly FoundRow[] | string;
  readonly first: FoundRow | undefined;
  readonly last: FoundRow | undefined;
  /** The row after the last, where it was looked at. */
  readonly following?: FoundRow | undefined;
  /** Whether more rows follow in the direction of reading. */
  readonly isMore: boolean;
}

/** Finds rows that are shown one by one. */
export function findRows(
  rows: Reader,
  { question, tests, filter, size, offset, start }: PageQuery,
): PageRows & { items: FoundRow[] } {
  const isReversed = start?.back ?? false;
  const way = { isReversed, isContinued: start !== undefined, isOffset: offset !== undefined };
  // What a store answered may be its own, and be answered again to this body.
  const found = rows.all(question.ask(way), valuesOf(tests, filter, size + 1, offset, start));
  const isMore = found.length > size;
  const following = found[size];
  const items = found.slice(0, size);
  if (isReversed) items.reverse();
  return { items, first: items[0], last: items.at(-1), following, isMore };
}

/** Finds rows that are passed on as they are; the row at an end is looked at where a page is told by it. */
export function findTexts(
  rows: Reader,
  { question, tests, filter, size, offset, start }: PageQuery,
  wantsFirst: boolean,
): PageRows & { items: string } {
  const query = question.ask({ isReversed: false, isContinued: start !== undefined, isOffset: offset !== undefined });
  const { docs, isMore, first, last } = rows.joined(query, valuesOf(tests, filter, size, offset, start), wantsFirst);
  return { items: docs, first, last, isMore };
}
