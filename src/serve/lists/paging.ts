import { type Fact, isStated } from '../../parts/fact.ts';
import type { Pagination } from '../../parts/limits.ts';
import type { Exchange, Refusal, Value } from '../exchange.ts';
import type { Cursors, Position } from './cursor.ts';

/** Which page is asked for. */
export interface PageAsked {
  readonly size: number;
  /** Go on from here; `after` and `before` as identifiers are resolved by the list. */
  readonly position?: Position;
  readonly afterId?: string;
  readonly beforeId?: string;
  readonly offset?: number;
  readonly page?: number;
}

/** How many rows one answer holds where nothing bounds it; more are an open fact. */
export const unpagedMost = 100;

/** What pages need of a list's parameters: their names, and a reading of them that refuses what is not right. */
export interface Paging {
  readonly pagination: Pagination | undefined;
  readonly isOpen: boolean;
  /** The query parameters that pagination reads; they need no naming. */
  readonly names: readonly string[];
  read(exchange: Exchange, query: string): PageAsked | { readonly refusal: Refusal };
}

export function compilePaging(fact: Fact<Pagination>, cursors: Cursors, acceptsOpen: boolean): Paging {
  const pagination = isStated(fact) ? fact.value : undefined;
  if (!pagination || pagination.style === 'none') {
    const size = pagination || acceptsOpen || fact.standing !== 'open' ? Number.MAX_SAFE_INTEGER - 1 : unpagedMost;
    return { pagination, isOpen: fact.standing === 'open', names: [], read: () => ({ size }) };
  }
  const style = pagination;
  const names = namesOf(style);
  return {
    pagination,
    isOpen: false,
    names,
    read(exchange, query) {
      const raw = exchange.params;
      const size = readSize(style, style.size === undefined ? undefined : raw[style.size]);
      if (typeof size !== 'number') return size;
      if (style.style === 'cursor') return readCursor(style, raw, size, cursors, query);
      if (style.style === 'after') return readAfter(style, raw, size);
      const number = readNumber(style, raw);
      return typeof number === 'number'
        ? { size, ...(style.style === 'offset' ? { offset: number } : { page: number, offset: (number - 1) * size }) }
        : number;
    },
  };
}

function namesOf(pagination: Pagination): string[] {
  const { style, cursor, after, before, offset, page, size } = pagination;
  const own: Readonly<Record<string, (string | undefined)[]>> = {
    cursor: [cursor ?? 'cursor'],
    after: [after ?? 'after', before],
    offset: [offset ?? 'offset'],
    page: [page ?? 'page'],
  };
  return [...(own[style] ?? []), size].filter((name): name is string => name !== undefined);
}

/** Without a stated default, a page holds as many as one may ask for, or as an answer may hold at all. */
function readSize(style: Pagination, raw: Value): number | { refusal: Refusal } {
  const most = style.max ?? Number.MAX_SAFE_INTEGER - 1;
  if (raw === undefined) return Math.min(style.default ?? style.max ?? unpagedMost, most);
  const size = wholeNumber(raw);
  if (size === undefined || size < 1)
    return refusePage(style.size ?? 'size', raw, `a whole number from 1${style.max === undefined ? '' : ` to ${style.max}`}`);
  if (size <= most) return size;
  return style.overMax === 'clamp' ? most : refusePage(style.size ?? 'size', raw, `a whole number from 1 to ${most}`);
}

function readCursor(
  style: Pagination,
  raw: Readonly<Record<string, Value>>,
  size: number,
  cursors: Cursors,
  query: string,
): PageAsked | { refusal: Refusal } {
  const name = style.cursor ?? 'cursor';
  const sent = raw[name];
  if (sent === undefined) return { size };
  const position = typeof sent === 'string' ? cursors.read(sent, query) : undefined;
  return position ? { size, position } : refusePage(name, sent, 'a cursor that was given for this very query');
}

function readAfter(style: Pagination, raw: Readonly<Record<string, Value>>, size: number): PageAsked | { refusal: Refusal } {
  const after = raw[style.after ?? 'after'];
  const before = style.before === undefined ? undefined : raw[style.before];
  if (after !== undefined && before !== undefined) return refusePage(style.before ?? 'before', before, 'one of the two alone');
  return {
    size,
    ...(after !== undefined && { afterId: String(after) }),
    ...(before !== undefined && { beforeId: String(before) }),
  };
}

function readNumber(style: Pagination, raw: Readonly<Record<string, Value>>): number | { refusal: Refusal } {
  const isOffset = style.style === 'offset';
  const name = isOffset ? (style.offset ?? 'offset') : (style.page ?? 'page');
  const sent = raw[name];
  const least = isOffset ? 0 : 1;
  if (sent === undefined) return least;
  const number = wholeNumber(sent);
  return number === undefined || number < least ? refusePage(name, sent, `a whole number from ${least}`) : number;
}

function wholeNumber(value: Value): number | undefined {
  const text = String(value);
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export function refusePage(name: string, found: Value, expected: string): { readonly refusal: Refusal } {
  const shown = JSON.stringify(String(found).slice(0, 64));
  return { refusal: { when: 'limit.page', violations: [{ in: 'query', path: name, found: shown, expected }] } };
}
