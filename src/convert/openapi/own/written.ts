import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { below, pathOf } from '../../../document/pointer.ts';
import { isMap, isStanding, newMap, type OpenMap } from '../../../document/values.ts';
import { isSame } from '../../../parts/versions/json-merge.ts';

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

/** A tree with its statements in the forms in which they were written, wherever they still say the same. */
export function withWrittenForms(read: JsonMap, forms: readonly Written[]): JsonMap {
  // A map at the top stays one.
  return forms.reduce<Json>((tree, form) => placed(tree, pathOf(form.at), form), read) as JsonMap;
}

function placed(value: Json | undefined, [key, ...rest]: readonly string[], form: Written): Json {
  if (!isMap(value)) return value ?? null;
  if (key === undefined) return form.is !== undefined && isSame(value, form.was) ? form.is : value;
  const known = Object.hasOwn(value, key) ? value[key] : undefined;
  const out: OpenMap = Object.assign(newMap(), value);
  if (rest.length > 0) {
    if (known !== undefined) out[key] = placed(known, rest, form);
  } else if (isSame(known, form.was)) {
    if (form.is === undefined) delete out[key];
    else out[key] = form.is;
  }
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
