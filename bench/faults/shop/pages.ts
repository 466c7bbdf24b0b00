/** Query parameters and pages. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Query, Refusal } from './exchange.ts';
import type { Shop } from './shop.ts';

/** Reads one parameter's text; nothing where it is wrong. */
export type Read = (text: string) => string | number | boolean | undefined;

export const anyText: Read = (sent) => sent;
export const truth: Read = (sent) => (sent === 'true' ? true : sent === 'false' ? false : undefined);
export const wordOf =
  (...words: readonly string[]): Read =>
  (sent) =>
    words.includes(sent) ? sent : undefined;

export function integer(min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): Read {
  return (sent) => {
    const value = /^-?\d+$/.test(sent) ? Number(sent) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };
}

/** Reads the parameters that an operation has, and refuses others, repeated ones and what does not fit. */
export function readQuery(sent: URLSearchParams, readers: Readonly<Record<string, Read>>, page: readonly string[] = []): Query {
  const out: Record<string, string | number | boolean> = {};
  for (const name of new Set(sent.keys())) {
    if (page.includes(name)) continue;
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    const values = sent.getAll(name);
    const value = values.length === 1 ? read?.(values[0]!) : undefined;
    if (value === undefined) throw badParameter(name, values.join(', '));
    out[name] = value;
  }
  return out;
}

function badParameter(name: string, found: string): Refusal {
  return new Refusal('bad_parameter', [{ in: 'query', path: name, found, expected: 'a parameter that this operation takes' }]);
}

export function badPage(name: string, found: string): Refusal {
  return new Refusal('bad_page', [{ in: 'query', path: name, found, expected: 'a page that there is' }]);
}

/** The size of a page. */
export function readSize(sent: URLSearchParams, name: string, usual: number, max: number, clamps = false): number {
  const text = one(sent, name);
  if (text === undefined) return usual;
  const size = integer(1)(text);
  if (typeof size !== 'number' || (size > max && !clamps)) throw badPage(name, text);
  return Math.min(size, max);
}

export function one(sent: URLSearchParams, name: string): string | undefined {
  const values = sent.getAll(name);
  if (values.length > 1) throw badParameter(name, values.join(', '));
  return values[0];
}

interface Row {
  readonly id: string;
}

const secret = 'cursors of the corner shop';
const usualSize = 5;
const sizeMax = 20;

/** What a page by cursor is asked for. A cursor tells the last row that was shown, and is signed together with its query. */
export interface CursorPage {
  readonly size: number;
  readonly after: string | undefined;
  readonly query: string;
}

export const cursorNames = ['cursor', 'limit'];

export function readCursorPage(sent: URLSearchParams, { faults }: Shop, who: string): CursorPage {
  const asked = [...sent].filter(([name]) => !cursorNames.includes(name)).sort();
  const query = JSON.stringify(faults.has('cursor-of-any-query') ? [] : [who, asked]);
  const max = faults.has('page-max-twice') ? 2 * sizeMax : sizeMax;
  const size = readSize(sent, 'limit', faults.has('page-of-ten') ? 10 : usualSize, max, faults.has('page-size-clamped'));
  const cursor = one(sent, 'cursor');
  if (cursor === undefined) return { size, after: undefined, query };
  const [after = '', mac = ''] = cursor.split('.');
  const right = Buffer.from(signed(after, query));
  const given = Buffer.from(mac);
  if (given.length !== right.length || !timingSafeEqual(given, right)) throw badPage('cursor', cursor);
  return { size, after: Buffer.from(after, 'base64url').toString(), query };
}

/** The rows of a page, by a key and then by creation, and the cursor of the next one. */
export function cursorPage<R extends Row>(
  rows: readonly R[],
  key: (row: R) => number,
  { size, after, query }: CursorPage,
  { faults }: Shop,
): { data: R[]; next: string | null } {
  const sorted = rows.toSorted((row, other) => key(row) - key(other) || (row.id < other.id ? -1 : 1));
  const byPosition = faults.has('cursor-is-a-position');
  const rest = byPosition ? sorted.slice(Number(after ?? 0)) : sorted.filter((row) => isAfter(row, key(row), after));
  const data = rest.slice(0, size);
  const last = data.at(-1);
  const isMore = faults.has('cursor-on-last-page') ? data.length === size : data.length < rest.length;
  if (!isMore || !last) return { data, next: null };
  return { data, next: cursorOf(byPosition ? String(Number(after ?? 0) + size) : JSON.stringify([key(last), last.id]), query) };
}

/** The last row that was shown may be gone by now: its key and its identifier are enough. */
function isAfter({ id }: Row, key: number, after: string | undefined): boolean {
  if (after === undefined) return true;
  // A cursor is signed, so it is one of ours.
  const [lastKey, lastId] = JSON.parse(after) as [number, string];
  return key > lastKey || (key === lastKey && id > lastId);
}

function cursorOf(after: string, query: string): string {
  const text = Buffer.from(after).toString('base64url');
  return `${text}.${signed(text, query)}`;
}

function signed(text: string, query: string): string {
  return createHmac('sha256', secret).update(`${text}\n${query}`).digest('base64url');
}
