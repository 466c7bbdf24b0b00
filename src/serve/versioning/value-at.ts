import type { Value } from '../exchange.ts';

/** What stands at a path of a value; nothing where it leads nowhere. */
export function valueAt(value: Value, path: readonly string[]): Value {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    // An object or a list, by the test above.
    at = (at as Readonly<Record<string, Value>>)[step];
  }
  return at;
}
