import { addressWords } from '../../../document/addresses.ts';
import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { keywords as all, type Keyword } from '../../../parts/shapes/keywords.ts';

/** What the value of a keyword of a schema is. */
export type KeywordKind = Keyword['takes'];

/** What has another form in older versions (`nullable`, `exclusiveMinimum: true`, `type: file`), and what names schemas, is read apart. */
const readApart: ReadonlySet<string> = new Set([
  'type',
  'exclusiveMinimum',
  'exclusiveMaximum',
  '$ref',
  '$defs',
  '$schema',
  ...addressWords,
]);

/** The keywords of a schema that this language has too, each with what its value is. */
export const keywords: ReadonlyMap<string, KeywordKind> = new Map(
  [...all].flatMap(([word, { takes, isOld }]) => (isOld || readApart.has(word) ? [] : [[word, takes]])),
);

/** Whether a value is what a keyword takes. */
export function isOfKind(kind: KeywordKind, value: Json): boolean {
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'count') return typeof value === 'number' && Number.isInteger(value) && value >= 0;
  if (kind === 'number') return typeof value === 'number';
  if (kind === 'flag') return typeof value === 'boolean';
  if (kind === 'list') return Array.isArray(value);
  if (kind === 'words') return Array.isArray(value) && value.every((word: Json) => typeof word === 'string');
  if (kind === 'word map') {
    return (
      isMap(value) &&
      Object.values(value).every((words) => Array.isArray(words) && words.every((word: Json) => typeof word === 'string'))
    );
  }
  return kind === 'json';
}
