/** The target of a request taken apart: its path by the templates of endpoints, its query, and the lists in that. */

import { itemOf, type Resolve, type Schema, schemaTypesOf } from './schema.ts';
import { cut } from './violation.ts';

/** A query's values by their decoded names, in order, the values still encoded; `bad` holds the names that do not decode. */
export interface TargetQuery {
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly bad: readonly string[];
}

/** Splits a raw query or urlencoded body at `&` and `=`. A piece without `=` is a name with an empty value; empty pieces are nothing. */
export function splitQuery(raw: string): TargetQuery {
  if (raw === '') return emptyQuery;
  const values = new Map<string, string[]>();
  const bad: string[] = [];
  for (const piece of raw.split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const rawName = equals === -1 ? piece : piece.slice(0, equals);
    const value = equals === -1 ? '' : piece.slice(equals + 1);
    const name = decodeFormText(rawName);
    if (name === undefined) {
      bad.push(rawName);
      continue;
    }
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return { values, bad };
}

const emptyQuery: TargetQuery = { values: new Map(), bad: [] };

/**
 * Percent-decodes a piece of a request target or form (RFC 3986 section 2.1). Octets outside ASCII that came bare are
 * taken as the octets of UTF-8, as node:http hands them over, one character each. Undefined where a `%` has not two
 * hexadecimal digits, or the octets are no UTF-8.
 */
export function decodePercent(text: string): string | undefined {
  if (!ENCODED.test(text)) return text;
  const ascii = text.replace(BARE_OCTET, (octet) => `%${octet.charCodeAt(0).toString(16)}`);
  try {
    return decodeURIComponent(ascii);
  } catch {
    return undefined;
  }
}

/** As `decodePercent`, for queries and forms, where `+` is a space (WHATWG URL section 5.1). */
export function decodeFormText(text: string): string | undefined {
  return decodePercent(text.includes('+') ? text.replaceAll('+', ' ') : text);
}

const ENCODED = /[%\x80-\uffff]/;
const BARE_OCTET = /[\x80-\xff]/g;

/**
 * Splits a Cookie header into its pairs, in order (RFC 6265 section 5.4, section 4.2.1). Values stay as they were sent but
 * for surrounding quotes; a piece without `=` is nothing.
 */
export function cookiePairs(header: string | undefined): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  if (header === undefined || header === '') return pairs;
  for (const piece of header.split(';')) {
    const equals = piece.indexOf('=');
    if (equals === -1) continue;
    const value = piece.slice(equals + 1).trim();
    const quoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
    pairs.push([piece.slice(0, equals).trim(), quoted ? value.slice(1, -1) : value]);
  }
  return pairs;
}

/** A Cookie header's values by name. Of two cookies with one name the first stands: browsers send the narrower path first. */
export function parseCookies(header: string | undefined): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const [name, value] of cookiePairs(header)) {
    if (!cookies.has(name)) cookies.set(name, value);
  }
  return cookies;
}

/** A path template taken apart: its real path's segments, its parameters' names in order, and the query its key fixes. */
interface RouteTemplate {
  readonly segments: readonly Segment[];
  readonly names: readonly string[];
  readonly fixed: readonly FixedQuery[];
}

/** A segment is a text (decoded), a whole parameter, or texts with parameters between them: `['thumbnail.', '']`. */
export type Segment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter' }
  | { readonly kind: 'mixed'; readonly texts: readonly string[] };

/** A pair that the request's query must hold to reach this operation; without a value, any value does. */
export interface FixedQuery {
  readonly name: string;
  readonly value: string | undefined;
}

/**
 * Reads a path template as an endpoint's key writes it: `/a/{id}/thumbnail.{extension}?type=x#note`. What stands after
 * `#` tells two keys apart and nothing else. A brace that is not closed is a literal.
 */
export function readRouteTemplate(template: string): RouteTemplate {
  const { path, query } = cutTemplate(template);
  const names: string[] = [];
  const segments = splitOutsideBraces(path.startsWith('/') ? path.slice(1) : path).map((text) => readSegment(text, names));
  return { segments, names, fixed: readFixed(query) };
}

function cutTemplate(template: string): { path: string; query: string } {
  const hash = outsideBraces(template, '#');
  const whole = hash === -1 ? template : template.slice(0, hash);
  const mark = outsideBraces(whole, '?');
  return mark === -1 ? { path: whole, query: '' } : { path: whole.slice(0, mark), query: whole.slice(mark + 1) };
}

function outsideBraces(text: string, wanted: string, from = 0): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === wanted) return i;
    if (text[i] === '{') {
      const close = text.indexOf('}', i);
      if (close !== -1) i = close;
    }
  }
  return -1;
}

function splitOutsideBraces(path: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let end = outsideBraces(path, '/'); end !== -1; end = outsideBraces(path, '/', start)) {
    pieces.push(path.slice(start, end));
    start = end + 1;
  }
  pieces.push(path.slice(start));
  return pieces;
}

function readSegment(segment: string, names: string[]): Segment {
  const texts: string[] = [];
  let start = 0;
  for (let open = segment.indexOf('{'); open !== -1; open = segment.indexOf('{', start)) {
    const close = segment.indexOf('}', open);
    if (close === -1) break;
    texts.push(decoded(segment.slice(start, open)));
    names.push(segment.slice(open + 1, close));
    start = close + 1;
  }
  texts.push(decoded(segment.slice(start)));
  if (texts.length === 1) return { kind: 'literal', text: texts[0] ?? '' };
  if (texts.length === 2 && texts.every((text) => text === '')) return { kind: 'parameter' };
  return { kind: 'mixed', texts };
}

function decoded(literal: string): string {
  return decodePercent(literal) ?? literal;
}

function readFixed(query: string): FixedQuery[] {
  const fixed: FixedQuery[] = [];
  for (const [name, values] of splitQuery(query).values) {
    for (const value of values) fixed.push({ name, value: /^\{[^}]*\}$/.test(value) ? undefined : decoded(value) });
  }
  return fixed;
}

/** Reads a path template such as `/{version}` after the base path: what stands for the version, and the path without it. */
export function pathReader(template: string, basePath: string): (path: string) => { name: string; path: string } | undefined {
  const [before = '', after = ''] = template.split('{version}');
  const head = basePath + (before.startsWith('/') ? before : `/${before}`);
  return (path) => {
    if (!path.startsWith(head)) return undefined;
    const slash = path.indexOf('/', head.length);
    const segment = path.slice(head.length, slash < 0 ? path.length : slash);
    const rest = slash < 0 ? '' : path.slice(slash);
    const ending = after.split('/')[0] as string;
    const below = after.slice(ending.length);
    if (!segment.endsWith(ending) || segment.length === ending.length || !rest.startsWith(below)) return undefined;
    const raw = segment.slice(0, segment.length - ending.length);
    return { name: decodedOrSent(raw), path: basePath + rest.slice(below.length) };
  };
}

function decodedOrSent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** How a list stands in a query: parted by commas, or by items that are numbered. */

/** Whether no item of a list can hold a comma, so that an encoded one must be a border too. */
export function areCommaFree(list: Schema, resolve: Resolve): boolean {
  const item = itemOf(list, resolve);
  if (item === undefined) return false;
  if (Array.isArray(item.enum)) return item.enum.every((value) => !String(value).includes(','));
  if (typeof item.pattern === 'string' && admitsNoComma(item.pattern)) return true;
  const types = schemaTypesOf(item, resolve);
  return types !== undefined && !types.has('string');
}

/** Whether a pattern for the whole of a text is so plain that it is seen to have no room for a comma. */
function admitsNoComma(pattern: string): boolean {
  const inner = /^\^(.*)\$$/s.exec(pattern)?.[1]?.replaceAll(/\\[.\-_/dw]/g, '0');
  // A bound such as {1,19} holds a comma that is no character, and a range of letters or digits none; one of other characters may.
  const rest = inner?.replaceAll(/\{\d+,\d*\}/g, '').replaceAll(/[A-Za-z0-9]-[A-Za-z0-9]/g, '0');
  return rest !== undefined && !/[,.|\\^$]|[^[]-[^\]]/.test(rest);
}

/** Whether a list in the query may number its items: its name says `ids[]`. */
export function isNumbered({ in: place, name }: { readonly in: string; readonly name: string }, style: string): boolean {
  return place === 'query' && style === 'form' && name.length > 2 && name.endsWith('[]');
}

/** The texts of `ids[]=a&ids[]=b`, or of `ids[0]=a&ids[1]=b` in the order of their numbers; or what is in the way. */
export function numberedItems(
  name: string,
  values: ReadonlyMap<string, readonly string[]>,
): readonly string[] | { readonly found: string; readonly expected: string } {
  const prefix = name.slice(0, -1);
  const items: (readonly [number: number, text: string])[] = [];
  for (const [sent, texts] of values) {
    if (!sent.startsWith(prefix)) continue;
    const inside = /^(\d{0,4})\]$/.exec(sent.slice(prefix.length))?.[1];
    if (inside === undefined) return { found: `the name ${cut(sent, 64)}`, expected: `${name}, or ${prefix}0]` };
    for (const text of texts) items.push([inside === '' ? Number.POSITIVE_INFINITY : Number(inside), text]);
  }
  return items.toSorted(([a], [b]) => (a === b ? 0 : a - b)).map(([, text]) => text);
}
