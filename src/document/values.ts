import type { Json, JsonMap } from './document.ts';

/** A map while it is being filled. */
export interface OpenMap {
  [key: string]: Json;
}

/** A new map without a prototype, so that `__proto__` and `constructor` are plain keys of it. */
export function newMap(): OpenMap {
  return Object.create(null);
}

/** True of a map, false of a list, a scalar or nothing. */
export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True of a standing in its JSON form: `{ $open: "…" }`, `{ $none: true }`, `{ $any: true }`. */
export function isStanding(value: Json | undefined): boolean {
  if (!isMap(value)) return false;
  const keys = Object.keys(value);
  return keys.length === 1 && standingKeys.has(keys[0] ?? '');
}

const standingKeys: ReadonlySet<string> = new Set(['$open', '$none', '$any']);

/** Whether two JSON values are equal, whatever the order of their members; the integers 1 and 1n are one, and bytes are equal to the same bytes. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return isSameInteger(a, b);
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  }
  if (a instanceof Uint8Array !== b instanceof Uint8Array) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  // The casts hold: both are objects by the tests above, and a member that is not there is asked for first.
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]));
}

/** Whether a number and a BigInt are the same integer. */
function isSameInteger(a: unknown, b: unknown): boolean {
  if (typeof a === 'bigint' && typeof b === 'number') return Number.isInteger(b) && BigInt(b) === a;
  if (typeof a === 'number' && typeof b === 'bigint') return isSameInteger(b, a);
  return false;
}

/** The types of JSON Schema (2020-12, Validation section 6.1.1). */
export const jsonTypes: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']);

/** The type of a value, whole numbers apart; integers beyond 2^53 come as BigInts. JSON has no number that is not finite. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : Number.isFinite(value) ? 'number' : 'none';
  return typeof value;
}

/** Whether a value is of a type; an integer is a number too. */
export function isOfType(value: unknown, type: string): boolean {
  const own = jsonTypeOf(value);
  return own === type || (own === 'integer' && type === 'number');
}
