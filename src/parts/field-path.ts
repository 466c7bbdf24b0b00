/** Paths of fields, and what stands at their end. */

import type { Expression, Named } from './fact.ts';

/** What stands at the end of a path of fields, parted by dots; nothing where one on the way is no map. */
export function along<T>(value: T | undefined, path: string): T | undefined {
  let at: unknown = value;
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  // What is inside a value of its sort is one.
  return at as T;
}

/** A copy of a map with another value at the end of a path; what is not there on the way is made. */
export function withPlaced<T extends Readonly<Record<string, unknown>>>(map: T, path: string, value: unknown): T {
  const [first = '', ...rest] = path.split('.');
  const held = map[first];
  const inner =
    typeof held === 'object' && held !== null && !Array.isArray(held) ? (held as Readonly<Record<string, unknown>>) : {};
  return { ...map, [first]: rest.length === 0 ? value : withPlaced(inner, rest.join('.'), value) };
}

/** The members that lead to the first value which is made by an expression of this text, in a map of made values; nothing where none is, or in a list. */
export function placeMadeBy(data: Named<Expression>, text: string): readonly string[] | undefined {
  for (const [name, { source, parts }] of Object.entries(data)) {
    if (source.trim() === text) return [name];
    const inner = parts && !source.startsWith('[') ? placeMadeBy(parts, text) : undefined;
    if (inner) return [name, ...inner];
  }
  return undefined;
}
