/** Which page of a list was asked for. */

import { pageStyle, pageStyles } from '../../../kinds/pages/all.ts';
import { type CountedPlace, type NamedParameter, type PageStyle, parametersOf } from '../../../kinds/pages/kind.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, type Fact, statedValue } from '../../../parts/fact.ts';
import { isCut, type Pagination, pageRowsMost } from '../../../parts/limits.ts';
import type { Exchange, Refusal, Value } from '../../exchange/exchange.ts';
import type { Cursors, Position } from './query.ts';

/** Which page is asked for. */
export interface PageAsked {
  readonly size: number;
  /** Go on from here. */
  readonly position?: Position;
  /** The row to go on from, which the list looks up. */
  readonly row?: RowAsked;
  /** How many rows to pass over. */
  readonly offset?: number;
}

/** A row by whose identifier a page is asked for. */
interface RowAsked {
  readonly id: string;
  readonly isBack: boolean;
  /** The parameter that names it. */
  readonly name: string;
}

/** How many rows one answer holds where nothing bounds it; more are an open fact. */
export const unpagedMost = 100;

/** How many rows of a list in one piece are read and written at once; one that has more is written as it is read. */
export const atOnceMost = 1000;

/** How many rows a list in one piece can have where something is made of all of them together. */
export const wholeMost = 10_000;

/** What pages need of a list's parameters: their names, and a reading of them that refuses what is not right. */
export interface Paging {
  readonly pagination: Pagination | undefined;
  readonly isOpen: boolean;
  /** The query parameters that pagination reads; they need no naming. */
  readonly names: readonly string[];
  read(exchange: Exchange, query: string): PageAsked | { readonly refusal: Refusal };
}

type Raw = Readonly<Record<string, Value>>;
type ReadPlace = (raw: Raw, size: number, query: string) => PageAsked | { readonly refusal: Refusal };

/**
 * Compiles the pages of an endpoint's list, by what it states of them or else by what is `usual`. `isLenient`: whether the identifier
 * of a row is taken where a cursor is asked for, and what is no number of rows for as many as are usual.
 */
export function compilePaging(
  endpoint: Endpoint,
  usual: Fact<Pagination>,
  cursors: Cursors,
  acceptsOpen: boolean,
  isLenient = false,
): Paging {
  const fact = endpoint.pagination ?? usual;
  const pagination = statedValue(fact);
  if (!isCut(pagination)) {
    const size = acceptsOpen || fact.standing !== 'open' ? Number.MAX_SAFE_INTEGER - 1 : unpagedMost;
    return { pagination: statedValue(fact), isOpen: fact.standing === 'open', names: [], read: () => ({ size }) };
  }
  const asked = entriesOf(endpoint.parameters).find(([name]) => name === pagination.size)?.[1];
  // A default that is no number of rows, such as -1, stands for as many as are usual. To a lenient service 0 does too, and what the words say so of: where
  // fewer than one may not be asked for, the parameter states it, and was looked at by it.
  const unsaid = asked?.default?.value;
  const { description } = statedValue(asked?.shape) ?? {};
  const mayBeNone = isLenient && typeof description === 'string' && saysNotPositive.test(description);
  const isUnsaid = (size: Value) =>
    size !== undefined && Number(size) < 1 && (size === unsaid || (isLenient && Number(size) === 0) || mayBeNone);
  return pagingOf(pagination, cursors, isLenient, ({ params }) => params, isUnsaid);
}

const saysNotPositive = /\b(?:not|non)[- ]?positive\b|\bnegative\b|\bless than (?:1|one)\b/i;

/** Compiles the reading of pages that are told somewhere in a request. */
export function pagingOf(
  pagination: Pagination,
  cursors: Cursors,
  takesRows: boolean,
  rawOf: (exchange: Exchange) => Raw,
  isUnsaid: (size: Value) => boolean = () => false,
): Paging {
  const style = pageStyle(pagination.style);
  const own = parametersOf(style, pagination);
  const readPlace = compilePlace(style, own, cursors, takesRows);
  const { size: sizeName } = pagination;
  return {
    pagination,
    isOpen: false,
    names: [...own.map(({ name }) => name), ...(sizeName === undefined ? [] : [sizeName])],
    read(exchange, query) {
      const raw = rawOf(exchange);
      const size = readSize(pagination, sizeName === undefined || isUnsaid(raw[sizeName]) ? undefined : raw[sizeName]);
      return typeof size === 'number' ? readPlace(raw, size, query) : size;
    },
  };
}

/** How the place where a page begins is read, by what tells it. */
function compilePlace(style: PageStyle, parameters: readonly NamedParameter[], cursors: Cursors, takesRows: boolean): ReadPlace {
  if (style.tells === 'identifier') return (raw, size) => readRow(parameters, raw, size);
  const [first] = parameters;
  if (!first) return (_, size) => ({ size });
  const { name } = first;
  const { count } = style;
  return count
    ? (raw, size) => readCount(count, name, raw, size)
    : (raw, size, query) => {
        const read = readToken(name, raw, size, cursors, query);
        return takesRows && 'refusal' in read ? { size, row: { id: String(raw[name]), isBack: false, name } } : read;
      };
}

/** Without a stated default, a page holds as many as one may ask for, or as an answer may hold at all. */
function readSize(style: Pagination, raw: Value): number | { refusal: Refusal } {
  const most = style.max ?? pageRowsMost;
  if (raw === undefined) return Math.min(style.default ?? style.max ?? unpagedMost, most);
  const size = wholeNumber(raw);
  if (size === undefined || size < 1) return refusePage(style.size ?? 'size', raw, `a whole number from 1 to ${most}`);
  if (size <= most) return size;
  return style.overMax === 'clamp' ? most : refusePage(style.size ?? 'size', raw, `a whole number from 1 to ${most}`);
}

function readToken(
  name: string,
  raw: Raw,
  size: number,
  cursors: Cursors,
  query: string,
): PageAsked | { readonly refusal: Refusal } {
  const sent = raw[name];
  if (sent === undefined) return { size };
  const position = typeof sent === 'string' ? cursors.read(sent, query) : undefined;
  return position ? { size, position } : refusePage(name, sent, 'a cursor that was given for this very query');
}

function readRow(parameters: readonly NamedParameter[], raw: Raw, size: number): PageAsked | { readonly refusal: Refusal } {
  let row: RowAsked | undefined;
  for (const { name, parameter } of parameters) {
    const sent = raw[name];
    if (sent === undefined) continue;
    if (row) return refusePage(name, sent, 'one of the two alone');
    row = { id: String(sent), isBack: parameter.leads === 'back', name };
  }
  return row ? { size, row } : { size };
}

function readCount(count: CountedPlace, name: string, raw: Raw, size: number): PageAsked | { readonly refusal: Refusal } {
  const sent = raw[name];
  const value = sent === undefined ? count.least : wholeNumber(sent);
  if (value === undefined || value < count.least) return refusePage(name, sent, `a whole number from ${count.least}`);
  return { size, offset: count.skip(value, size) };
}

function wholeNumber(value: Value): number | undefined {
  const text = String(value);
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export function refusePage(name: string, found: Value, expected: string): { readonly refusal: Refusal } {
  const shown = JSON.stringify(String(found).slice(0, 64));
  return { refusal: { when: 'limit.page', violations: [{ in: 'query', path: name, found: shown, expected }] } };
}

/**
 * A page by its place, where a client of a stand-in sends the usual parameter for it beside the one that pages are told by, or
 * though the document has none; of a list in one piece, as many rows as it asks for.
 */
export function countedPage(asked: PageAsked, exchange: Exchange, { names, pagination }: Paging): PageAsked {
  if (asked.position !== undefined || asked.row !== undefined || (asked.offset ?? 0) > 0) return asked;
  const sent = sentBeside(exchange, names);
  const size = isCut(pagination) ? asked.size : (numberIn(sent, sizeNames, 1) ?? asked.size);
  for (const [name, count] of countedPlaces) {
    const value = numberIn(sent, [name], count.least + 1);
    if (value !== undefined) return { ...asked, size, offset: Math.min(count.skip(value, size), Number.MAX_SAFE_INTEGER) };
  }
  return size === asked.size ? asked : { ...asked, size };
}

type Sent = (name: string) => unknown;

/** What a request says under a name of its query that pages do not read, whether or not the document has it. */
function sentBeside({ params, call }: Exchange, known: readonly string[]): Sent {
  if (call.query === '') return () => undefined;
  // `start_position` and `startPosition` are one name.
  const raw = new Map<string, unknown>();
  for (const [name, value] of new URLSearchParams(call.query))
    if (!known.includes(name)) raw.set(plainOf(name), params[name] ?? value);
  return (name) => raw.get(plainOf(name));
}

function plainOf(name: string): string {
  return name.replaceAll(/[^A-Za-z]/g, '').toLowerCase();
}

function numberIn(sent: Sent, names: readonly string[], least: number): number | undefined {
  for (const name of names) {
    const text = String(sent(name) ?? '');
    if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  }
  return undefined;
}

/** The usual names of parameters that say how many rows a page has. */
const sizeNames = ['limit', 'perpage', 'pagesize'];

/** The usual names of parameters that tell the place of a page by a number: where several styles have one, the number of the first page is the greatest of theirs. */
const countedPlaces = new Map(
  (pageStyles as readonly PageStyle[])
    .flatMap(({ count, parameters }) =>
      count ? parameters.flatMap(({ usualNames }) => usualNames.map((name) => [name, count] as const)) : [],
    )
    .toSorted(([, one], [, other]) => one.least - other.least),
);
