import { quoted, report } from './catalogue.ts';
import { type Json, type Place, type Pointer, partNames } from './document.ts';
import { nearest } from './nearest.ts';
import { below, pointerOf } from './pointer.ts';
import type { Located, ReadContext } from './read-context.ts';
import { isMap, isStanding, newMap, type OpenMap } from './values.ts';

/** What one file says beside its parts. */
export interface Head {
  title: string | undefined;
  readonly includes: { readonly path: string; readonly place: Place }[];
}

/** Takes one map of parts, `title`, `include` and `evidence`: the whole of a YAML or JSON document. */
export function readWhole(located: Located, head: Head, gathering: ReadContext): void {
  const { value, places } = located;
  const placeOf = (pointer: string): Place => places.get(pointer) ?? places.get('') ?? nowhere;
  if (!isMap(value)) {
    report(gathering, 'document/not-a-map', placeOf(''), 'A document is a map with the names of the parts as keys.', { at: '' });
    return;
  }
  const parts = newMap();
  for (const [key, stated] of Object.entries(value)) {
    const at = below('', key);
    if (key === 'title') takeTitle(stated, placeOf(at), head, gathering);
    else if (key === 'include') readIncludes(stated, placeOf, head, gathering);
    else if (topKeys.has(key)) parts[key] = stated;
    else {
      const meant = nearest(key, topKeys);
      const remedy = meant === undefined ? {} : { remedy: `Write \`${meant}\`.` };
      report(gathering, 'document/unknown-part', placeOf(`${at}#`), `${quoted(key)} is no part of a document.`, {
        at,
        ...remedy,
      });
    }
  }
  merge([], { value: parts, places }, gathering);
}

const nowhere: Place = { file: '', line: 1, column: 1, endLine: 1, endColumn: 1 };
const topKeys: ReadonlySet<string> = new Set([...partNames, 'title', 'include', 'evidence']);

/** Takes a document's title; a second one that differs is a finding. */
export function takeTitle(stated: Json, place: Place, head: Head, gathering: ReadContext): void {
  if (typeof stated !== 'string') {
    report(gathering, 'document/title', place, 'The title is a piece of text.', { at: '/title' });
  } else if (head.title !== undefined && head.title !== stated) {
    report(gathering, 'document/stated-twice', place, 'The title is stated twice.', { at: '/title' });
  } else head.title = stated;
}

function readIncludes(stated: Json, placeOf: (pointer: string) => Place, head: Head, gathering: ReadContext): void {
  const paths = typeof stated === 'string' ? [stated] : stated;
  if (!Array.isArray(paths)) {
    report(gathering, 'document/include-form', placeOf('/include'), '`include` is a list of file names.', { at: '/include' });
    return;
  }
  for (const [index, path] of paths.entries()) {
    const at = `/include/${index}`;
    const place = placeOf(at);
    if (typeof path === 'string') head.includes.push({ path, place });
    else report(gathering, 'document/include-form', place, 'An included document is named by its path.', { at });
  }
}

/** A key on the way to where a value stands, and where that key is written. */
export interface KeyStep {
  readonly key: string;
  readonly place: Place;
}

/**
 * Puts a value into the document's tree where the steps lead. Maps merge; anything else that is there already is a finding
 * that shows both places, and what was there first stays.
 */
export function merge(steps: readonly KeyStep[], located: Located, gathering: ReadContext): void {
  let target = gathering.tree;
  let at: Pointer = '';
  for (const [index, { key, place }] of steps.entries()) {
    at = below(at, key);
    if (!gathering.places.has(`${at}#`)) gathering.places.set(`${at}#`, place);
    if (index === steps.length - 1) break;
    if (!Object.hasOwn(target, key)) {
      target[key] = newMap();
      gathering.places.set(at, place);
    }
    const inner = target[key];
    if (!isMap(inner) || isStanding(inner)) {
      twice(at, located, pointerOf(steps.map((step) => step.key)), gathering);
      return;
    }
    target = opened(inner);
  }
  const last = steps.at(-1);
  if (last === undefined) {
    if (isMap(located.value)) join(target, located.value as OpenMap, '', located, gathering);
  } else place(target, last.key, located.value, at, located, gathering);
  if (gathering.places.size === 0) gathering.places = located.places;
  else for (const [pointer, where] of located.places) if (!gathering.places.has(pointer)) gathering.places.set(pointer, where);
}

function join(target: OpenMap, from: OpenMap, at: Pointer, located: Located, gathering: ReadContext): void {
  for (const key of Object.keys(from)) place(target, key, from[key] ?? null, below(at, key), located, gathering);
}

function place(target: OpenMap, key: string, value: Json, at: Pointer, located: Located, gathering: ReadContext): void {
  const there = Object.hasOwn(target, key) ? target[key] : undefined;
  if (there === undefined) target[key] = value;
  else if (isMap(there) && isMap(value) && !isStanding(there) && !isStanding(value)) {
    join(opened(there), opened(value), at, located, gathering);
  } else twice(at, located, at, gathering);
}

function twice(at: Pointer, located: Located, where: Pointer, gathering: ReadContext): void {
  const first = gathering.places.get(at) ?? gathering.places.get(`${at}#`);
  const again = located.places.get(where) ?? located.places.get(`${where}#`);
  if (again === undefined) return;
  const also = first === undefined ? {} : { also: [{ message: 'It is first stated here.', place: first }] };
  report(gathering, 'document/stated-twice', again, `${quoted(at)} is stated twice.`, { at, ...also });
}

/** Every map of a tree is made by this folder and belongs to the one gathering, so it may be filled further. */
function opened(map: Json): OpenMap {
  return map as OpenMap;
}
