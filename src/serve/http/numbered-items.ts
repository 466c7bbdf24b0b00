import { cut } from './violation.ts';

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
