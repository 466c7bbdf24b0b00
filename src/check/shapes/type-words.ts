import type { Pointer } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { jsonTypes } from '../../document/values.ts';
import { formatNamed, formats, timeFormat } from '../../kinds/formats/all.ts';
import { standardFormatNamed, standardFormats } from '../../kinds/formats/standard.ts';
import { unstated } from '../subject/names.ts';
import type { Vocabulary, Wrong } from '../subject/rule.ts';

/**
 * What is wrong with a word that stands where a shape may name a resource, a value or a JSON type: whoever wrote a format, a type as
 * another language calls it, or a misspelt one is told how it is written here.
 */
export function unstatedShape(resources: Vocabulary, word: string, at: Pointer): Wrong[] {
  const [wrong] = unstated(resources, word, at);
  if (wrong === undefined) return [];
  const written = writtenAs(word, resources.words);
  if (written === undefined) return [wrong];
  return [{ ...wrong, message: `\`${word}\` is neither a JSON type nor a stated resource.`, remedy: `Write \`${written}\`.` }];
}

/** What was most likely meant; nothing where that is a resource, or nothing is near. */
function writtenAs(word: string, resources: ReadonlySet<string>): string | undefined {
  const plain = word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const ours = ofOthers.get(plain);
  if (ours !== undefined) return ours;
  const format = formatWords.find((known) => known.replaceAll('-', '') === plain);
  if (format !== undefined) return withFormat(format);
  const near = nearest(word, [...resources, ...jsonTypes, ...formatWords]);
  if (near === undefined || resources.has(near)) return undefined;
  return jsonTypes.has(near) ? near : withFormat(near);
}

const formatWords = [...formats, ...standardFormats].map(({ word }) => word);

function withFormat(word: string): string {
  const type = standardFormatNamed(word) === undefined && formatNamed(word)?.type === 'number' ? 'integer' : 'string';
  return `type: ${type}, format: ${word}`;
}

/** Types as programming languages and databases call them, without what is no letter or digit. */
const ofOthers: ReadonlyMap<string, string> = new Map([
  ...['int', 'long', 'short', 'bigint', 'smallint', 'serial'].map((word) => [word, 'integer'] as const),
  ...['float', 'double', 'real'].map((word) => [word, 'number'] as const),
  ...['text', 'str', 'varchar', 'char'].map((word) => [word, 'string'] as const),
  ...['list', 'tuple'].map((word) => [word, 'array'] as const),
  ...['map', 'dict', 'dictionary', 'json', 'hash'].map((word) => [word, 'object'] as const),
  ...['datetime', 'timestamp', 'timestamptz'].map((word) => [word, withFormat(timeFormat)] as const),
  ['bool', 'boolean'],
  ['nil', 'null'],
]);
