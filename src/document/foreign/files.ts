import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { leadByPointers } from '../addresses.ts';
import { quoted, report } from '../catalogue.ts';
import type { Finding, Json, JsonMap, Place } from '../document.ts';
import { readJson } from '../json.ts';
import { below, keyOf } from '../pointer.ts';
import type { ReadContext } from '../read-context.ts';
import { type SourceText, snippetOf, takeSource } from '../source.ts';
import { isMap, type OpenMap } from '../values.ts';
import { readYaml } from '../yaml/yaml.ts';
import { type Foreign, languageOf, mountKey, type PlaceFinder, placeFinder } from './foreign.ts';

/** The content of a file that another one refers to, by its path from the folder of the document, or why there is none. */
export type ReadOther = (path: string) => string | Uint8Array | Pick<Finding, 'code' | 'message'>;

/** Changes a description before anything of it is read. */
export type Overlay = (root: OpenMap, gathering: ReadContext) => void;

const nothingElse: ReadOther = () => ({ code: 'document/ref-unreadable', message: 'No other file can be read here.' });

/** Stands for the name of the document's own folder, which it does not know. */
const ownFolder = '.';

/**
 * Reads a document of another language together with the files that it refers to. Those lie in its own folder or beside that
 * folder, and are known by their path from the folder above: `spec/pets.yaml`, `common/errors.yaml`.
 */
export function gatherForeign(
  source: SourceText,
  gathering: ReadContext,
  other: ReadOther = nothingElse,
  overlay?: Overlay,
): Foreign | undefined {
  const value = valueOfForeign(source, gathering);
  if (!isMap(value)) return undefined;
  const finders = new Map<string, PlaceFinder>();
  const gatherer: Gatherer = { gathering, other, folder: folderOf(source.file), finders, mounted: new Map(), pending: [] };
  // What was just read belongs to nobody else, so its references may be led elsewhere.
  const root = value as OpenMap;
  const finder = placeFinder(source);
  overlay?.(root, gathering);
  if (hasAddresses(source.text)) leadWithin(root);
  if (overlay || namesOtherFile(source.text)) mountAll(root, `${ownFolder}/${fileName(source.file)}`, finder, gatherer);
  for (let next = gatherer.pending.pop(); next; next = gatherer.pending.pop())
    mountAll(next.value, next.path, next.finder, gatherer);
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
  readonly gathering: ReadContext;
  readonly other: ReadOther;
  readonly folder: string;
  readonly finders: Map<string, PlaceFinder>;
  /** By path from the folder of the document; a file that could not be read holds nothing. */
  readonly mounted: Map<string, Json>;
  /** Files that were read and not gone through yet: one may lead to the next in a row of thousands. */
  readonly pending: { readonly value: Json; readonly path: string; readonly finder: PlaceFinder }[];
}

/** Most documents refer to nothing outside, and are not gone through to find that out. */
function namesOtherFile(text: string): boolean {
  return /\$ref["']?\s*:\s*["']?[^#"'\s]/.test(text);
}

function hasAddresses(text: string): boolean {
  return /\$(?:id|anchor|dynamicRef|self)["']?\s*:/.test(text);
}

/** Leads references by an address to its place in the same file; formats before OpenAPI 3.1 know no addresses. */
function leadWithin(root: OpenMap): void {
  const known = languageOf(root);
  const isOpenApi = known?.language === 'openapi';
  if (isOpenApi && /^(?:2|3\.0)/.test(known?.version ?? '')) return;
  const copies = isOpenApi ? '/components/schemas' : '/$defs';
  leadByPointers(root, { inside: insideOf, copies, ...(typeof root.$self === 'string' && { base: root.$self }) });
}

/** What may be a schema, or hold one, below a map; words of the author are keys in some, and data of the author is none. */
function insideOf(map: JsonMap): (readonly [(string | number)[], Json])[] {
  return Object.keys(map).flatMap((key): (readonly [(string | number)[], Json])[] => {
    const value = map[key] as Json;
    if (isData.test(key)) return [];
    if (Array.isArray(value)) return value.map((item: Json, index) => [[key, index], item]);
    if (!isMap(value)) return [];
    return namesSchemas.test(key) ? Object.entries(value).map(([name, inner]) => [[key, name], inner]) : [[[key], value]];
  });
}

const isData = /^(?:examples?|enum|const|default|x-.*)$/;
const namesSchemas = /^(?:properties|patternProperties|dependentSchemas|definitions|\$defs|schemas)$/;

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
  if (path === undefined || !isSchemaFile(path)) {
    report(
      gathering,
      'document/ref-outside',
      place(),
      path === undefined
        ? `${quoted(ref)} leads out of the document's folder.`
        : `${quoted(ref)} is beside the document's folder, and no file of YAML or JSON by its name.`,
    );
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

/**
 * A file of the document's own folder may have any name. One beside that folder belongs to whoever it belongs to: it is read where its name
 * says that it is YAML or JSON, and nothing on its way is hidden.
 */
function isSchemaFile(path: string): boolean {
  if (path.startsWith(`${ownFolder}/`)) return true;
  return /\.(?:ya?ml|json)$/i.test(path) && !path.split('/').some((name) => name.startsWith('.'));
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
  const value = valueOfForeign(source, gathering);
  if (value === undefined) return;
  const finder = placeFinder(source);
  // What was just read belongs to nobody else.
  if (isMap(value) && hasAddresses(source.text)) leadWithin(value as OpenMap);
  mounted.set(path, value);
  finders.set(path, finder);
  gatherer.pending.push({ value, path, finder });
}

/**
 * The value of a text in JSON or YAML, without the places of what it holds: a document of megabytes is read by the platform's
 * own parser, or by one that keeps no tree. A text that they do not take is read again by the readers that say what is wrong.
 */
export function valueOfForeign(source: SourceText, gathering: ReadContext): Json | undefined {
  const { text } = source;
  const isJson = /^\s*[{[]/.test(text);
  // What begins like JSON in a file of YAML may have what only YAML takes, such as a comma at the end.
  const value = isJson
    ? (parsed(() => JSON.parse(text)) ?? (/\.ya?ml$/i.test(source.file) ? parsed(() => load(text, plain)) : undefined))
    : (parsed(() => load(text, plain)) ?? parsed(() => bounded(load(text, merging), gathering)));
  if (value !== undefined) return value;
  const snippet = snippetOf(source, [[0, text.length]]);
  return (isJson ? readJson(snippet, '', 0, gathering) : readYaml(snippet, '', 0, gathering))?.value;
}

function parsed(parse: () => unknown): Json | undefined {
  try {
    // Both parsers make values of JSON and nothing else.
    return parse() as Json;
  } catch {
    return undefined;
  }
}

/** Most texts have no alias, and nothing has to be counted. */
const plain = { schema: CORE_SCHEMA, maxAliases: 0, maxDepth: 200 };
/** Merge keys are no word of YAML 1.2, and many documents of OpenAPI have them. */
const merging = { schema: CORE_SCHEMA.withTags(mergeTag), maxAliases: 10_000, maxDepth: 200 };

/** @throws {RangeError} where aliases stand for more values than are read, or stand in what they name. */
function bounded(value: unknown, { bounds }: ReadContext): unknown {
  let count = 0;
  const walk = (inner: unknown, depth: number): void => {
    count += 1;
    if (count > bounds.values / 10 || depth > bounds.depth) throw new RangeError('Aliases stand for too much.');
    if (typeof inner === 'object' && inner !== null) for (const member of Object.values(inner)) walk(member, depth + 1);
  };
  walk(value, 0);
  return value;
}

/**
 * The path of an included file from the root document's folder, given the file that includes it (also from there): `/` between
 * names, no `.` or `..`. Undefined for a path that is absolute, an address, or leads out of that folder.
 */
export function includePath(from: string, path: string): string | undefined {
  if (path === '' || /^[/\\]|^[a-z][a-z\d+.-]*:|[\\\0]/i.test(path)) return undefined;
  const names = from.split('/').slice(0, -1);
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names.length === 0 ? undefined : names.join('/');
}

/** The name of a file without its folders. */
export function fileName(file: string): string {
  return file.slice(folderOf(file).length);
}

/** The folder of a file with the slash at its end, or the empty string. */
export function folderOf(file: string): string {
  return file.slice(0, Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
}
