import type { Json, JsonMap, Pointer } from '../../document/document.ts';
import { below, pathOf } from '../../document/pointer.ts';
import { isMap, isSame, newMap, type OpenMap } from '../../document/values.ts';

/** What has to be said beside another format so that reading both gives the document again. */
export interface OwnStatements {
  /** What the format does not say, or says in another way: a tree laid over what is read off the format, maps into maps. */
  readonly stated: JsonMap;
  /** What is read off the format and is not in the document. */
  readonly absent: readonly Pointer[];
}

/** What a document's tree says beyond what is read off another format. */
export function ownStatements(tree: JsonMap, read: JsonMap): OwnStatements {
  const absent: Pointer[] = [];
  return { stated: beyond(tree, read, '', absent), absent };
}

/** The document's tree: what was read off another format, with what was said beside it. */
export function withOwnStatements(read: JsonMap, { stated, absent }: OwnStatements): JsonMap {
  const tree = copyOf(read);
  for (const pointer of absent) remove(tree, pathOf(pointer));
  lay(stated, tree);
  return tree;
}

function beyond(tree: JsonMap, read: JsonMap, at: Pointer, absent: Pointer[]): JsonMap {
  const out: OpenMap = newMap();
  for (const [key, value] of Object.entries(tree)) {
    const known = Object.hasOwn(read, key) ? read[key] : undefined;
    if (known !== undefined && isSame(value, known)) continue;
    out[key] = isMap(value) && isMap(known) ? beyond(value, known, below(at, key), absent) : value;
    // Maps that differ by what is absent alone have nothing more to say.
    if (isMap(value) && isMap(known) && Object.keys(out[key] as JsonMap).length === 0) delete out[key];
  }
  for (const key of Object.keys(read)) if (!Object.hasOwn(tree, key)) absent.push(below(at, key));
  return out;
}

function lay(stated: JsonMap, tree: OpenMap): void {
  for (const [key, value] of Object.entries(stated)) {
    const known = Object.hasOwn(tree, key) ? tree[key] : undefined;
    // Every map of the tree is a copy of this function's own.
    if (isMap(value) && isMap(known)) lay(value, known as OpenMap);
    else tree[key] = value;
  }
}

function remove(tree: OpenMap, path: readonly string[]): void {
  const last = path.at(-1);
  let map: Json | undefined = tree;
  for (const key of path.slice(0, -1)) map = isMap(map) && Object.hasOwn(map, key) ? map[key] : undefined;
  // As above.
  if (isMap(map) && last !== undefined) delete (map as OpenMap)[last];
}

function copyOf(map: JsonMap): OpenMap {
  const out: OpenMap = newMap();
  for (const [key, value] of Object.entries(map)) out[key] = isMap(value) ? copyOf(value) : value;
  return out;
}
