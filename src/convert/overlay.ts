import { exec } from 'jsonpath-rfc9535';
import { quoted, report } from '../document/catalogue.ts';
import type { Json, JsonMap } from '../document/document.ts';
import { valueOfForeign } from '../document/foreign/files.ts';
import { placeFinder } from '../document/foreign/foreign.ts';
import { below } from '../document/pointer.ts';
import type { ReadContext } from '../document/read-context.ts';
import { takeSource } from '../document/source.ts';
import { isMap, newMap, type OpenMap } from '../document/values.ts';

/** An overlay of the OpenAPI Initiative, as a file. */
export interface OverlayFile {
  readonly file: string;
  readonly content: string | Uint8Array;
}

/**
 * Changes a description as overlays say (Overlay Specification 1.0 and 1.1), each of their actions after the other: what is selected by a
 * JSONPath (RFC 9535) is merged with, replaced, copied over, or taken away. What cannot be carried out is a finding at its place in the
 * overlay.
 */
export function overlaid(root: OpenMap, overlays: readonly OverlayFile[], gathering: ReadContext): void {
  for (const { file, content } of overlays) {
    const source = takeSource(content, file, gathering);
    const finder = placeFinder(source);
    const tell = (at: string, message: string) => report(gathering, 'document/overlay', finder.find(at), message);
    const overlay = valueOfForeign(source, gathering);
    const version = isMap(overlay) ? overlay.overlay : undefined;
    if (!isMap(overlay) || !Array.isArray(overlay.actions) || !/^1\.\d/.test(String(version))) {
      tell('', 'This is no overlay: it has `overlay: 1.0.0` or a later 1, and a list of `actions`.');
      continue;
    }
    for (const [index, action] of (overlay.actions as readonly Json[]).entries()) {
      const at = below('/actions', index);
      const wrong = isMap(action) ? carryOut(root, action) : 'An action is a map with a `target`.';
      if (wrong !== undefined) tell(at, wrong);
    }
  }
}

type Path = readonly (string | number)[];

/** Carries an action out; gives why that was not possible. */
function carryOut(root: OpenMap, action: JsonMap): string | undefined {
  const targets = pathsOf(root, action.target);
  if (typeof targets === 'string') return targets;
  if (targets.length === 0) return `${quoted(String(action.target))} selects nothing.`;
  if (action.remove === true) return remove(root, targets);
  const copies = Object.hasOwn(action, 'copy') ? pathsOf(root, action.copy) : undefined;
  if (typeof copies === 'string') return copies;
  if (copies !== undefined && copies.length !== 1)
    return `${quoted(String(action.copy))} selects ${copies.length} values, and one is copied.`;
  const [source] = copies ?? [];
  const value = source === undefined ? action.update : at(root, source);
  if (value === undefined) return 'An action has one of `update`, `copy` and `remove: true`.';
  for (const path of targets) {
    const wrong = change(root, path, value);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function pathsOf(root: OpenMap, query: Json | undefined): Path[] | string {
  if (typeof query !== 'string') return 'A query is a text, as in `$.paths.*.get`.';
  const paths: Path[] = [];
  try {
    // The cast holds: a tree of JSON is a value of JSON, whose maps are not changed here.
    exec(root as Parameters<typeof exec>[0], query, (_value, path) => {
      paths.push([...path]);
    });
  } catch (error) {
    return `${quoted(query)} is no JSONPath (RFC 9535): ${error instanceof Error ? error.message : String(error)}`;
  }
  return paths;
}

function at(root: OpenMap, path: Path): Json | undefined {
  let value: Json | undefined = root;
  for (const key of path) {
    if (Array.isArray(value)) value = value[Number(key)] as Json | undefined;
    else value = isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

/** Takes values away, later items of a list first. */
function remove(root: OpenMap, targets: readonly Path[]): string | undefined {
  if (targets.some((path) => path.length === 0)) return 'The whole document cannot be taken away.';
  const last = (path: Path) => path.at(-1) ?? '';
  for (const path of targets.toSorted((a, b) => Number(last(b)) - Number(last(a)) || b.length - a.length)) {
    const holder = at(root, path.slice(0, -1));
    // The tree was given to be changed.
    if (Array.isArray(holder)) (holder as Json[]).splice(Number(last(path)), 1);
    else if (isMap(holder)) delete (holder as OpenMap)[last(path)];
  }
  return undefined;
}

/** Merges a value into what stands at a path; a list is added to. */
function change(root: OpenMap, path: Path, value: Json): string | undefined {
  const target = at(root, path);
  // The tree was given to be changed.
  if (isMap(target) && isMap(value)) return merge(target as OpenMap, value);
  if (Array.isArray(target)) (target as Json[]).push(...(Array.isArray(value) ? value : [value]).map(copyOf));
  else if (isMap(target) || isMap(value) || Array.isArray(value)) return mismatch(path.at(-1) ?? '$');
  else {
    const holder = at(root, path.slice(0, -1));
    const key = path.at(-1) ?? '';
    if (Array.isArray(holder)) (holder as Json[])[Number(key)] = value;
    else if (isMap(holder)) (holder as OpenMap)[key] = value;
  }
  return undefined;
}

function merge(target: OpenMap, value: JsonMap): string | undefined {
  for (const [key, inner] of Object.entries(value)) {
    const was = Object.hasOwn(target, key) ? target[key] : undefined;
    if (was === undefined) target[key] = copyOf(inner);
    else {
      const wrong = change(target, [key], inner);
      if (wrong !== undefined) return wrong;
    }
  }
  return undefined;
}

function mismatch(key: string | number): string {
  return `What is given for \`${key}\` cannot be merged with what stands there: one of them is a map, a list or neither.`;
}

/** What stands in two places is two values, for either may be changed. */
function copyOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isMap(value)) return value;
  const copy = newMap();
  for (const [key, inner] of Object.entries(value)) copy[key] = copyOf(inner);
  return copy;
}
