/** How a list stands in a query: parted by commas, or by items that are numbered. */

import { itemOf, type Resolve, type Schema, schemaTypesOf } from './schema.ts';
import { cut } from './violation.ts';

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
