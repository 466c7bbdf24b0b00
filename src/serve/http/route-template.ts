import { decodePercent, splitQuery } from './target.ts';

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
