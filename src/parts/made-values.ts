import type { Expression, Named } from './fact.ts';

/** The members that lead to the first value which is made by an expression of this text, in a map of made values; nothing where none is, or in a list. */
export function placeMadeBy(data: Named<Expression>, text: string): readonly string[] | undefined {
  for (const [name, { source, parts }] of Object.entries(data)) {
    if (source.trim() === text) return [name];
    const inner = parts && !source.startsWith('[') ? placeMadeBy(parts, text) : undefined;
    if (inner) return [name, ...inner];
  }
  return undefined;
}
