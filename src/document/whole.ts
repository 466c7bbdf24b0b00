import { type Json, type Place, partNames } from './document.ts';
import type { Gathering, Located } from './gathering.ts';
import { merge } from './merge.ts';
import { nearest } from './nearest.ts';
import { below } from './pointer.ts';
import { quoted, report } from './report.ts';
import { isMap, newMap } from './values.ts';

/** What one file says beside its parts. */
export interface Head {
  title: string | undefined;
  readonly includes: { readonly path: string; readonly place: Place }[];
}

/** Takes one map of parts, `title`, `include` and `evidence`: the whole of a YAML or JSON document. */
export function readWhole(located: Located, head: Head, gathering: Gathering): void {
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
export function takeTitle(stated: Json, place: Place, head: Head, gathering: Gathering): void {
  if (typeof stated !== 'string') {
    report(gathering, 'document/title', place, 'The title is a piece of text.', { at: '/title' });
  } else if (head.title !== undefined && head.title !== stated) {
    report(gathering, 'document/stated-twice', place, 'The title is stated twice.', { at: '/title' });
  } else head.title = stated;
}

function readIncludes(stated: Json, placeOf: (pointer: string) => Place, head: Head, gathering: Gathering): void {
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
