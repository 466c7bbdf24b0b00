import type { WayStep } from '../../parts/path-keys.ts';
import type { Fields, Value } from './exchange.ts';

/** The value at the end of a way of references from a row; nothing where one of them leads nowhere. */
export function valueAlong(
  way: readonly WayStep[],
  row: Fields,
  follow: (resource: string, id: Value) => Fields | undefined,
): Value {
  let at: Fields | undefined = row;
  for (const [index, { field, target }] of way.entries()) {
    const value: Value = at?.[field];
    if (index === way.length - 1 || value === undefined || value === null) return value;
    at = target === undefined ? undefined : follow(target, value);
  }
  return undefined;
}
