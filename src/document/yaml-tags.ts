import { isScalar, type Node } from 'yaml';
import type { Json, Place, Pointer } from './document.ts';
import type { Gathering } from './gathering.ts';
import { nearest } from './nearest.ts';
import { quoted, report } from './report.ts';
import { newMap } from './values.ts';

/** The standing that a node's tag gives it, in its JSON form; undefined for a node that is a plain value. */
export function readTag(node: Node, at: Pointer, place: Place, gathering: Gathering): Json | undefined {
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
function checkCore(tag: string, node: Node, at: Pointer, place: Place, gathering: Gathering): void {
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
