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
