import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { valueAt } from '../../../document/place.ts';
import { below, pathOf } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';

/** The order of keys where people choose one and OpenAPI groups otherwise: of endpoints, resources, fields and kinds of event. */
export function ordersOf(read: JsonMap, tree: JsonMap): JsonMap {
  const out = newMap();
  for (const at of placesOf(tree)) {
    const own = keysAt(tree, at);
    if (own.join('\n') !== keysAt(read, at).join('\n')) out[at] = own;
  }
  return out;
}

/** A tree with its keys in the carried order; keys that came since stand behind them. */
export function inOrder(tree: JsonMap, orders: Json | undefined): JsonMap {
  // A map at the top stays one.
  return Object.entries(isMap(orders) ? orders : {}).reduce<Json>(
    (value, [at, keys]) => sorted(value, pathOf(at), keys),
    tree,
  ) as JsonMap;
}

function placesOf(tree: JsonMap): Pointer[] {
  const resources = keysAt(tree, '/resources').map((name) => `${below('/resources', name)}/fields`);
  return ['', '/endpoints', '/resources', ...resources, '/states', '/events/kinds', '/authentication/schemes'];
}

function keysAt(tree: JsonMap, at: Pointer): string[] {
  const value = valueAt(tree, at);
  return isMap(value) ? Object.keys(value) : [];
}

function sorted(value: Json | undefined, [key, ...rest]: readonly string[], keys: Json): Json {
  if (!isMap(value)) return value ?? null;
  const out: OpenMap = newMap();
  if (key !== undefined) {
    Object.assign(out, value);
    if (Object.hasOwn(value, key)) out[key] = sorted(value[key], rest, keys);
    return out;
  }
  for (const name of Array.isArray(keys) ? (keys as readonly Json[]) : []) {
    const inner = Object.hasOwn(value, String(name)) ? value[String(name)] : undefined;
    if (inner !== undefined) out[String(name)] = inner;
  }
  for (const [name, inner] of Object.entries(value)) if (!Object.hasOwn(out, name)) out[name] = inner;
  return out;
}
