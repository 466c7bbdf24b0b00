import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { valueAt } from '../../../document/place.ts';
import { above, below, pathOf } from '../../../document/pointer.ts';
import { isMap, isSame, isStanding, newMap, type OpenMap } from '../../../document/values.ts';

/**
 * A statement that is written in a form which reading does not choose by itself: where the words of the export still read as
 * `was`, the document says `is`. An absent one stands for nothing at all.
 */
interface Written {
  readonly at: Pointer;
  readonly was?: Json;
  readonly is?: Json;
}

/** What sets a tree apart from what is read of its export. */
export function writtenForms(read: Json, tree: Json, at: Pointer = ''): Written[] {
  if (isSame(read, tree)) return [];
  if (!isMap(read) || !isMap(tree) || isStanding(read) || isStanding(tree)) return [{ at, was: read, is: tree }];
  const changed = Object.entries(tree).flatMap(([key, value]) => {
    const known = Object.hasOwn(read, key) ? read[key] : undefined;
    return known === undefined ? [{ at: below(at, key), is: value }] : writtenForms(known, value, below(at, key));
  });
  const gone = Object.entries(read).filter(([key]) => !Object.hasOwn(tree, key));
  return [...changed, ...gone.map(([key, was]) => ({ at: below(at, key), was }))];
}

/**
 * A tree with its statements in the forms in which they were written, wherever they still say the same. The words of one place
 * are taken together: where one of them says something else by now, all of them stay as they are read.
 */
export function withWrittenForms(read: JsonMap, forms: readonly Written[]): JsonMap {
  const places = Map.groupBy(forms, ({ at }) => above(at) ?? '');
  const standing = [...places.values()].filter((words) => words.every(({ at, was }) => isSame(valueAt(read, at), was)));
  // A map at the top stays one.
  return standing.flat().reduce<Json>((tree, form) => placed(tree, pathOf(form.at), form), read) as JsonMap;
}

function placed(value: Json | undefined, [key, ...rest]: readonly string[], form: Written): Json {
  if (!isMap(value) || key === undefined) return value ?? null;
  const out: OpenMap = Object.assign(newMap(), value);
  if (rest.length > 0) {
    if (Object.hasOwn(value, key)) out[key] = placed(value[key], rest, form);
  } else if (form.is === undefined) delete out[key];
  else out[key] = form.is;
  return out;
}

/** The forms that an export carries. */
export function readWrittenForms(list: Json | undefined): readonly Written[] {
  const rows = Array.isArray(list) ? (list as readonly Json[]) : [];
  return rows.flatMap((row) =>
    isMap(row) && typeof row.at === 'string'
      ? [{ at: row.at, ...(row.was !== undefined && { was: row.was }), ...(row.is !== undefined && { is: row.is }) }]
      : [],
  );
}

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
