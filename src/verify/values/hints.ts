import type { Json } from '../../document/document.ts';

/** The numbers and texts that a condition compares with. */
export function hintsIn(source: string): readonly Json[] {
  const texts = [...source.matchAll(/'([^'\\]*)'|"([^"\\]*)"/g)].map(([, one, other]) => one ?? other ?? '');
  const numbers = [...source.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?/g)].map(([text]) => Number(text));
  return [...texts, ...numbers.flatMap((number) => [number, number + 1, number - 1])];
}
