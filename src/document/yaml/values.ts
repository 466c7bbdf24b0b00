import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import { quoted, report, reportRepeated } from '../catalogue.ts';
import type { Json, Place, Pointer } from '../document.ts';
import { checkNumber } from '../json.ts';
import { nearest } from '../nearest.ts';
import { below } from '../pointer.ts';
import { countValue, type Located, type ReadContext, Stop } from '../read-context.ts';
import type { Snippet } from '../source.ts';
import { newMap, type OpenMap } from '../values.ts';

/** One YAML text on its way to values. */
interface Walk {
  readonly snippet: Snippet;
  readonly gathering: ReadContext;
  readonly places: Located['places'];
  /** The node that each anchor names at this point of the text, and that each alias met so far stands for. */
  readonly anchors: Map<string, Node>;
  readonly targets: Map<Alias, Node>;
  /** The collections that are being read; an alias to one of them would have no end. */
  readonly reading: Set<Node>;
  /** How many aliases deep the walk is; inside one every value is a copy. */
  copying: number;
}

/** A walk over one text, at its beginning. */
export function newWalk(snippet: Snippet, gathering: ReadContext, places: Located['places']): Walk {
  return { snippet, gathering, places, anchors: new Map(), targets: new Map(), reading: new Set(), copying: 0 };
}

/** Reads one node and hands its value over; a collection before it is filled, so that what is read before a bound is kept. */
export function readNode(node: Node, at: Pointer, depth: number, walk: Walk, put: (value: Json) => void): void {
  if (isAlias(node)) {
    readAlias(node, at, depth, walk, put);
    return;
  }
  const place = placeOf(node, walk);
  count(walk, place);
  walk.places.set(at, place);
  remember(node, walk);
  const standing = readTag(node, at, place, walk.gathering);
  if (standing !== undefined) put(standing);
  else if (isScalar(node)) put(readScalar(node, at, place, walk));
  else if (isMap(node) || isSeq(node)) {
    if (depth >= walk.gathering.bounds.depth) tooDeep(place, walk);
    walk.reading.add(node);
    if (isMap(node)) readMap(node, at, depth, walk, put);
    else readList(node, at, depth, walk, put);
    walk.reading.delete(node);
  }
}

function readScalar(node: Scalar, at: Pointer, place: Place, walk: Walk): Json {
  const { value } = node;
  if (typeof value === 'number') return checkNumber(value, node.source ?? String(value), at, place, walk.gathering);
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

function readMap(node: YAMLMap, at: Pointer, depth: number, walk: Walk, put: (value: Json) => void): void {
  const filled: OpenMap = newMap();
  put(filled);
  for (const { key: keyNode, value } of node.items as readonly { key: Node; value: Node | null }[]) {
    const key = readKey(keyNode, walk);
    if (key === undefined) continue;
    const inner = below(at, key);
    const place = placeOf(keyNode, walk);
    if (Object.hasOwn(filled, key)) {
      reportRepeated(walk.gathering, walk.places, key, inner, place);
      continue;
    }
    walk.places.set(`${inner}#`, place);
    if (value === null) {
      filled[key] = null;
      walk.places.set(inner, place);
    } else
      readNode(value, inner, depth + 1, walk, (entry) => {
        filled[key] = entry;
      });
  }
}

function readList(node: YAMLSeq, at: Pointer, depth: number, walk: Walk, put: (value: Json) => void): void {
  const filled: Json[] = [];
  put(filled);
  // A parsed list holds nodes; a pair in one stands in a map of its own.
  for (const [index, item] of (node.items as readonly Node[]).entries()) {
    readNode(item, below(at, index), depth + 1, walk, (value) => {
      filled[index] = value;
    });
  }
}

/** A key as text: a plain one as it was written, so that `200` and `2026-06-01` stay what they look like. */
function readKey(node: Node, walk: Walk): string | undefined {
  const key = isAlias(node) ? target(node, walk) : node;
  if (key !== undefined && isScalar(key) && readsAsText(key)) {
    remember(key, walk);
    if (key.type !== 'PLAIN') return String(key.value);
    if (key.source === '<<') {
      report(walk.gathering, 'document/merge-key', placeOf(node, walk), '`<<` does not merge maps in YAML 1.2.');
      return undefined;
    }
    if (key.source) return key.source;
  }
  report(walk.gathering, 'document/key-form', placeOf(node, walk), 'A key is a piece of text.');
  return undefined;
}

function readsAsText(key: Scalar): boolean {
  return key.tag === undefined || key.tag === '!' || key.tag === 'tag:yaml.org,2002:str';
}

function readAlias(node: Alias, at: Pointer, depth: number, walk: Walk, put: (value: Json) => void): void {
  const place = placeOf(node, walk);
  const named = target(node, walk);
  if (named === undefined || walk.reading.has(named)) {
    const wrong = named === undefined ? 'names no anchor before it' : 'stands inside what it names';
    report(walk.gathering, 'document/alias', place, `The alias ${quoted(`*${node.source}`)} ${wrong}.`, { at });
    walk.places.set(at, place);
    put(null);
    return;
  }
  walk.copying += 1;
  readNode(named, at, depth, walk, put);
  walk.copying -= 1;
  walk.places.set(at, place);
}

/** What an alias stands for: the last anchor of its name before it, also when the alias is read again inside a copy. */
function target(alias: Alias, walk: Walk): Node | undefined {
  const known = walk.targets.get(alias) ?? walk.anchors.get(alias.source);
  if (known !== undefined) walk.targets.set(alias, known);
  return known;
}

function remember(node: Node, walk: Walk): void {
  if (walk.copying === 0 && 'anchor' in node && typeof node.anchor === 'string') walk.anchors.set(node.anchor, node);
}

function count(walk: Walk, place: Place): void {
  const { gathering } = walk;
  countValue(gathering, () => place);
  if (walk.copying === 0) return;
  gathering.copies += 1;
  if (gathering.copies <= gathering.bounds.copies) return;
  if (gathering.copies === gathering.bounds.copies + 1) {
    const message = `The aliases of the document stand for more than ${gathering.bounds.copies} values.`;
    report(gathering, 'document/too-many-copies', place, message);
  }
  throw new Stop();
}

function tooDeep(place: Place, walk: Walk): never {
  report(walk.gathering, 'document/too-deep', place, `Values are nested more than ${walk.gathering.bounds.depth} deep.`);
  throw new Stop();
}

function placeOf(node: Node, walk: Walk): Place {
  const [start, end] = node.range ?? [0, 0];
  return walk.snippet.place(start, end);
}

/** The standing that a node's tag gives it, in its JSON form; undefined for a node that is a plain value. */
function readTag(node: Node, at: Pointer, place: Place, gathering: ReadContext): Json | undefined {
  const { tag } = node as { tag?: string };
  if (tag === undefined || tag === '!') return undefined;
  if (tag.startsWith(core)) {
    checkCore(tag, node, at, place, gathering);
    return undefined;
  }
  const text = isScalar(node) ? (node.type === 'PLAIN' ? (node.source ?? '') : String(node.value)) : undefined;
  if (tag === '!open') {
    if (text === undefined)
      report(gathering, 'document/tag-value', place, 'What stands after `!open` is a question in quotes.', { at });
    return standing('$open', text ?? '');
  }
  if (tag === '!none' || tag === '!any') {
    if (text !== '') report(gathering, 'document/tag-value', place, `Nothing can stand after \`${tag}\`.`, { at });
    return standing(tag === '!none' ? '$none' : '$any', true);
  }
  const meant = nearest(tag, standings);
  const remedy = meant === undefined ? {} : { remedy: `Write \`${meant}\`, or take the tag out.` };
  report(gathering, 'document/unknown-tag', place, `The tag ${quoted(tag)} is not known.`, { at, ...remedy });
  return undefined;
}

const core = 'tag:yaml.org,2002:';
const standings = ['!open', '!none', '!any'];

function standing(word: string, value: Json): Json {
  const map = newMap();
  map[word] = value;
  return map;
}

/** YAML's own tags say again what a value is, and must be right about it. */
function checkCore(tag: string, node: Node, at: Pointer, place: Place, gathering: ReadContext): void {
  const name = tag.slice(core.length);
  const fits = coreKinds[name];
  if (fits === undefined) {
    report(gathering, 'document/unknown-tag', place, `The tag ${quoted(`!!${name}`)} is not one of YAML's core schema.`, { at });
  } else if (isScalar(node) && typeof node.value !== fits) {
    report(gathering, 'document/unknown-tag', place, `The tag \`!!${name}\` does not fit this value.`, { at });
  }
}

/** The type that a scalar of each core tag has once it is read; a collection is held to its tag by the YAML reader. */
const coreKinds: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  str: 'string',
  int: 'number',
  float: 'number',
  bool: 'boolean',
  null: 'object',
  map: 'map',
  seq: 'seq',
});
