import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { valueAt } from '../../../document/place.ts';
import { above, below, pathOf } from '../../../document/pointer.ts';
import { isMap, isSame, isStanding, newMap, type OpenMap } from '../../../document/values.ts';

/**
 * A statement that is written in a form which reading does not choose by itself: where the words of the export still read as
 * `was`, the document says `is`. An absent one stands for nothing at all.
 */
export interface Written {
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
