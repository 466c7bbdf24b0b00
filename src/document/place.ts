import type { Document, Json, Place, Pointer } from './document.ts';
import { above, pathOf } from './pointer.ts';
import { isMap } from './values.ts';

/** Where a value stands (or its key, for a pointer ending in `#`): its own place, else that of the nearest thing around it. */
export function placeOf(document: Pick<Document, 'places' | 'sources'>, pointer: Pointer): Place {
  const exact = document.places.get(pointer);
  if (exact !== undefined) return exact;
  for (let at: Pointer | undefined = pointer.endsWith('#') ? pointer.slice(0, -1) : pointer; at !== undefined; at = above(at)) {
    const place = document.places.get(at) ?? document.places.get(`${at}#`);
    if (place !== undefined) return place;
  }
  const file = document.sources.keys().next().value ?? '';
  return { file, line: 1, column: 1, endLine: 1, endColumn: 1 };
}

/** Where the key of a value stands, else the value itself, else what is around it. */
export function keyPlaceOf(document: Pick<Document, 'places' | 'sources'>, pointer: Pointer): Place {
  return placeOf(document, `${pointer}#`);
}

/** The value that stands at a pointer, or undefined where nothing is stated. */
export function valueAt(tree: Json, pointer: Pointer): Json | undefined {
  let value: Json | undefined = tree;
  for (const key of pathOf(pointer)) {
    if (isMap(value)) value = Object.hasOwn(value, key) ? value[key] : undefined;
    else if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
    else return undefined;
  }
  return value;
}
