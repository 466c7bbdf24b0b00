import type { Headers } from './parameters.ts';
import { LazyQuery, Leaf, type Route, type RouteMatch, unknown } from './route-leaf.ts';
import { decodePercent, readRouteTemplate, type Segment } from './target.ts';

/** Finds the operation of a method and a raw path, without its query, which comes separately and without `?`. */
export interface Router<T> {
  find(method: string, rawPath: string, rawQuery: string, headers?: Headers): RouteMatch<T>;
}

/**
 * Compiles path templates to one look-up (RFC 3986 sections 2 and 3.3).
 *
 * The raw path is split at `/`, then each segment is decoded: `%2F` is a character of its segment, never a border.
 * A literal segment beats one with texts around parameters, which beats a whole parameter, with backtracking. Matching is
 * case-sensitive; a trailing or doubled slash is an empty segment, and no parameter is empty. `.` and `..` (encoded too),
 * NUL and bad encodings are in no path. Where parameters share a segment, each takes as little as the next text allows.
 *
 * The first real path that matches answers for all methods. A key's fixed query must stand in the request's query; of
 * several operations on one real path and method, the one that fixes most is tried first, then document order. Of keys that
 * differ by `#fragment` alone the one answers of whose told parameters most are as it says; where none is, the first of them.
 */
export function compileRoutes<T>(routes: readonly Route<T>[], options: { readonly base?: string } = {}): Router<T> {
  const base = options.base ?? '';
  const root = new Step<T>();
  const exact = new Map<string, Leaf<T>>();
  for (const route of routes) addRoute(root, exact, base, route);

  function find(method: string, path: string, rawQuery: string, headers?: Headers): RouteMatch<T> {
    if (!path.startsWith(base) || path.charCodeAt(base.length) !== SLASH) return unknown;
    const query = new LazyQuery(rawQuery, headers);
    const leaf = exact.get(path);
    if (leaf?.applies(query)) return leaf.answer(method, query, [], undefined);
    const raw = plainSegments(path, base.length + 1);
    const request =
      raw === undefined ? decodedDescent(path.slice(base.length + 1), query) : { raw, texts: raw, query, values: [] };
    if (request === undefined) return unknown;
    const reached = search(root, request, 0);
    if (reached === undefined) return unknown;
    return reached.answer(method, query, request.values, request.sent);
  }
  return { find };
}

/** The segments of a path that needs no decoding; undefined where it holds an encoding, bare octets or a dot segment. */
function plainSegments(path: string, from: number): string[] | undefined {
  const segments: string[] = [];
  let start = from;
  for (let i = from; i < path.length; i++) {
    const code = path.charCodeAt(i);
    if (code === SLASH) {
      segments.push(path.slice(start, i));
      start = i + 1;
    } else if (code === 37 || code < 33 || code > 126 || (code === 46 && i === start && DOTS.test(path.slice(i, i + 3)))) {
      return undefined;
    }
  }
  segments.push(path.slice(start));
  return segments;
}

const SLASH = 47;
const DOTS = /^\.\.?(?:\/|$)/;

function decodedDescent(path: string, query: LazyQuery): Descent | undefined {
  const raw = path.split('/');
  const texts: string[] = [];
  for (const segment of raw) {
    const text = decodePercent(segment);
    if (text === undefined || text === '.' || text === '..' || text.includes('\0')) return undefined;
    texts.push(text);
  }
  return { raw, texts, query, values: [], sent: [] };
}

class Step<T> {
  readonly literals = new Map<string, Step<T>>();
  readonly mixed: { readonly texts: readonly string[]; readonly next: Step<T> }[] = [];
  parameter: Step<T> | undefined;
  leaf: Leaf<T> | undefined;

  next(segment: Segment): Step<T> {
    if (segment.kind === 'parameter') {
      this.parameter ??= new Step();
      return this.parameter;
    }
    if (segment.kind === 'literal') {
      const known = this.literals.get(segment.text) ?? new Step<T>();
      this.literals.set(segment.text, known);
      return known;
    }
    const same = this.mixed.find(({ texts }) => texts.join('\0') === segment.texts.join('\0'));
    if (same !== undefined) return same.next;
    const next = new Step<T>();
    this.mixed.push({ texts: segment.texts, next });
    this.mixed.sort((a, b) => b.texts.join('').length - a.texts.join('').length);
    return next;
  }
}

function addRoute<T>(root: Step<T>, exact: Map<string, Leaf<T>>, base: string, route: Route<T>): void {
  const template = readRouteTemplate(route.path);
  const step = template.segments.reduce((at, segment) => at.next(segment), root);
  step.leaf ??= new Leaf();
  step.leaf.add(route, template.names, template.fixed);
  const literals = template.segments.map((segment) => (segment.kind === 'literal' ? segment.text : '%'));
  const path = `/${literals.join('/')}`;
  const plain = plainSegments(path, 1);
  if (plain?.join('\0') === literals.join('\0')) exact.set(base + path, step.leaf);
}

/** A request on its way down the tree; each step is visited once, so the cost is bounded by the document. */
interface Descent {
  readonly raw: readonly string[];
  readonly texts: readonly string[];
  readonly query: LazyQuery;
  readonly values: string[];
  /** The values as they were sent, where something in the path was encoded. */
  readonly sent?: string[];
}

function search<T>(step: Step<T>, request: Descent, index: number): Leaf<T> | undefined {
  if (index === request.texts.length) return step.leaf?.applies(request.query) ? step.leaf : undefined;
  const text = request.texts[index] ?? '';
  const literal = step.literals.size === 0 ? undefined : step.literals.get(text);
  if (literal !== undefined) {
    const leaf = search(literal, request, index + 1);
    if (leaf !== undefined) return leaf;
  }
  if (text === '') return undefined;
  const before = request.values.length;
  if (step.mixed.length > 0) {
    const leaf = searchMixed(step, request, index);
    if (leaf !== undefined) return leaf;
  }
  if (step.parameter === undefined) return undefined;
  request.values.push(text);
  request.sent?.push(request.raw[index] ?? '');
  const leaf = search(step.parameter, request, index + 1);
  if (leaf === undefined) forget(request, before);
  return leaf;
}

function searchMixed<T>(step: Step<T>, request: Descent, index: number): Leaf<T> | undefined {
  const before = request.values.length;
  for (const { texts, next } of step.mixed) {
    if (takeMixed(texts, request, index)) {
      const leaf = search(next, request, index + 1);
      if (leaf !== undefined) return leaf;
      forget(request, before);
    }
  }
  return undefined;
}

function forget(request: Descent, before: number): void {
  request.values.length = before;
  if (request.sent !== undefined) request.sent.length = before;
}

/** A separator that was sent encoded is data (RFC 3986 section 2.2), unless the segment matches in no other way. */
function takeMixed(texts: readonly string[], request: Descent, index: number): boolean {
  const sent = splitMixed(texts, request.raw[index] ?? '');
  const decoded = sent?.map((value) => decodePercent(value) ?? value) ?? splitMixed(texts, request.texts[index] ?? '');
  if (decoded === undefined) return false;
  request.values.push(...decoded);
  request.sent?.push(...(sent ?? decoded.map(encodeURIComponent)));
  return true;
}

function splitMixed(texts: readonly string[], segment: string): string[] | undefined {
  const first = texts[0] ?? '';
  const last = texts[texts.length - 1] ?? '';
  if (!segment.startsWith(first) || !segment.endsWith(last)) return undefined;
  const end = segment.length - last.length;
  const values: string[] = [];
  let start = first.length;
  for (let i = 1; i < texts.length - 1; i++) {
    const text = texts[i] ?? '';
    const border = segment.indexOf(text, start + 1);
    if (border === -1 || border + text.length >= end) return undefined;
    values.push(segment.slice(start, border));
    start = border + text.length;
  }
  if (start >= end) return undefined;
  values.push(segment.slice(start, end));
  return values;
}
