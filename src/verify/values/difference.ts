import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Flaw } from '../script/claim.ts';

/** How a value differs from what it should be; nothing where it is the same. An absent member is told from null. */
export function difference(promised: Json | undefined, seen: Json | undefined, what: string): Flaw | undefined {
  if (isSame(promised, seen)) return undefined;
  return { promised: `${what}: ${shown(promised)}`, seen: shown(seen) };
}

/** Whether two values are one, whatever the order of members. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item: Json, at) => isSame(item, other[at]));
  }
  if (!isMap(one) || !isMap(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

/** A value on one line. */
export function shown(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
