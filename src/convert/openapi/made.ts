import type { Json, JsonMap } from '../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../document/values.ts';

/** A map of the document that is being made, to be filled further: the importer made it, and nobody else has it yet. */
export function made(map: JsonMap): OpenMap {
  return map;
}

/** The same where one stands already, else a new one. */
export function madeOrNew(value: Json | undefined): OpenMap {
  return isMap(value) ? made(value) : newMap();
}
