import { takeSource } from './decode.ts';
import type { Finding, Json, Place } from './document.ts';
import { type Foreign, mountKey } from './foreign.ts';
import { type PlaceFinder, placeFinder } from './foreign-places.ts';
import { foreignValue } from './foreign-values.ts';
import type { Gathering } from './gathering.ts';
import { fileName, folderOf, includePath } from './include-path.ts';
import { below, keyOf } from './pointer.ts';
import { quoted, report } from './report.ts';
import type { Source } from './source.ts';
import { isMap, type OpenMap } from './values.ts';

/** The content of a file that another one refers to, by its path from the folder of the document, or why there is none. */
export type ReadOther = (path: string) => string | Uint8Array | Pick<Finding, 'code' | 'message'>;

const nothingElse: ReadOther = () => ({ code: 'document/ref-unreadable', message: 'No other file can be read here.' });

/** Stands for the name of the document's own folder, which it does not know. */
const ownFolder = '.';

/**
 * Reads a document of another language together with the files that it refers to. Those lie in its own folder or beside that
 * folder, and are known by their path from the folder above: `spec/pets.yaml`, `common/errors.yaml`.
 */
export function gatherForeign(source: Source, gathering: Gathering, other: ReadOther = nothingElse): Foreign | undefined {
  const value = foreignValue(source, gathering);
  if (!isMap(value)) return undefined;
  const finders = new Map<string, PlaceFinder>();
  const gatherer: Gatherer = { gathering, other, folder: folderOf(source.file), finders, mounted: new Map() };
  // What was just read belongs to nobody else, so its references may be led elsewhere.
  const root = value as OpenMap;
  const finder = placeFinder(source);
  if (namesOtherFile(source.text)) mountAll(root, `${ownFolder}/${fileName(source.file)}`, finder, gatherer);
  if (gatherer.mounted.size > 0) {
    const files: OpenMap = Object.create(null);
    for (const [path, mounted] of gatherer.mounted) files[path] = mounted;
    root[mountKey] = files;
  }
  return {
    file: source.file,
    value: root,
    place: (pointer) => placeIn(pointer, finder, finders),
    sources: gathering.sources,
    findings: gathering.findings,
  };
}

interface Gatherer {
  readonly gathering: Gathering;
  readonly other: ReadOther;
  readonly folder: string;
  readonly finders: Map<string, PlaceFinder>;
  /** By path from the folder of the document; a file that could not be read holds nothing. */
  readonly mounted: Map<string, Json>;
}

/** Most documents refer to nothing outside, and are not gone through to find that out. */
function namesOtherFile(text: string): boolean {
  return /\$ref["']?\s*:\s*["']?[^#"'\s]/.test(text);
}

function placeIn(pointer: string, root: PlaceFinder, finders: ReadonlyMap<string, PlaceFinder>): Place {
  const prefix = `/${mountKey}/`;
  if (!pointer.startsWith(prefix)) return root.find(pointer);
  const end = pointer.indexOf('/', prefix.length);
  const word = pointer.slice(prefix.length, end < 0 ? undefined : end).replace(/#$/, '');
  const finder = finders.get(keyOf(word));
  return finder === undefined ? root.find('') : finder.find(end < 0 ? '' : pointer.slice(end));
}

/** Makes every reference of one file lead into the one value, and reads the files that it names. */
function mountAll(root: Json, path: string, finder: PlaceFinder, gatherer: Gatherer): void {
  const todo: { value: Json; at: string }[] = [{ value: root, at: '' }];
  const isRoot = finder !== gatherer.finders.get(path);
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { value, at } = next;
    if (Array.isArray(value)) for (const [index, item] of value.entries()) todo.push({ value: item, at: below(at, index) });
    else if (isMap(value)) {
      const map = value as OpenMap;
      for (const key of Object.keys(map)) {
        const entry = map[key] as Json;
        const inner = below(at, key);
        if (key === '$ref' && typeof entry === 'string')
          map[key] = mountRef(entry, path, isRoot, () => finder.find(inner), gatherer);
        else if (typeof entry === 'object' && entry !== null) todo.push({ value: entry, at: inner });
      }
    }
  }
}

function mountRef(ref: string, from: string, isRoot: boolean, place: () => Place, gatherer: Gatherer): string {
  // What an alias stands for is met more than once.
  if (ref.startsWith(`#/${mountKey}/`)) return ref;
  const hash = ref.indexOf('#');
  const file = hash < 0 ? ref : ref.slice(0, hash);
  const pointer = hash < 0 ? '' : ref.slice(hash + 1);
  if (file === '') return isRoot ? ref : `#${below(`/${mountKey}`, from)}${pointer}`;
  const { gathering } = gatherer;
  if (/^[a-z][a-z0-9+.-]*:/i.test(file)) {
    report(gathering, 'document/ref-outside', place(), `${quoted(ref)} is on another machine, which is not asked.`);
    return ref;
  }
  const path = otherPath(from, file);
  if (path === undefined) {
    report(gathering, 'document/ref-outside', place(), `${quoted(ref)} leads out of the document's folder.`);
    return ref;
  }
  if (!gatherer.mounted.has(path)) mountFile(path, ref, place, gatherer);
  return `#${below(`/${mountKey}`, path)}${pointer}`;
}

/** The path of a file from the folder above the document's, `..` beyond which there is nothing. */
function otherPath(from: string, written: string): string | undefined {
  try {
    // The document's own folder has no name here, so a path may not come back to it by name.
    const path = includePath(from.replace(/^\.\//, ':own/'), decodeURIComponent(written));
    return path?.replace(/^:own\//, `${ownFolder}/`);
  } catch {
    return undefined;
  }
}

function mountFile(path: string, ref: string, place: () => Place, gatherer: Gatherer): void {
  const { gathering, other, folder, mounted, finders } = gatherer;
  const own = path.startsWith(`${ownFolder}/`) ? path.slice(ownFolder.length + 1) : `../${path}`;
  mounted.set(path, null);
  if (mounted.size > gathering.bounds.files) {
    report(gathering, 'document/include-bound', place(), 'Too many files are referred to.');
    return;
  }
  const content = other(own);
  if (typeof content === 'object' && 'code' in content) {
    report(gathering, 'document/ref-unreadable', place(), `${quoted(ref)} cannot be read: ${content.message}`);
    return;
  }
  const source = takeSource(content, `${folder}${own}`, gathering);
  const value = foreignValue(source, gathering);
  if (value === undefined) return;
  const finder = placeFinder(source);
  mounted.set(path, value);
  finders.set(path, finder);
  mountAll(value, path, finder, gatherer);
}
