import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';

/** What the value of a keyword of a schema is. */
export type KeywordKind =
  | 'text'
  | 'count'
  | 'number'
  | 'flag'
  | 'json'
  | 'list'
  | 'words'
  | 'schema'
  | 'schemas'
  | 'schema map'
  | 'word map';

/**
 * The keywords of a schema that this language has too, each with what its value is: JSON Schema 2020-12, and the words that
 * OpenAPI adds. What has another form in older versions (`nullable`, `exclusiveMinimum: true`, `type: file`) is read apart.
 */
export const keywords: ReadonlyMap<string, KeywordKind> = new Map<string, KeywordKind>([
  ['title', 'text'],
  ['description', 'text'],
  ['$comment', 'text'],
  ['format', 'text'],
  ['pattern', 'text'],
  ['contentEncoding', 'text'],
  ['contentMediaType', 'text'],
  ['default', 'json'],
  ['example', 'json'],
  ['examples', 'list'],
  ['const', 'json'],
  ['enum', 'list'],
  ['minLength', 'count'],
  ['maxLength', 'count'],
  ['minItems', 'count'],
  ['maxItems', 'count'],
  ['minProperties', 'count'],
  ['maxProperties', 'count'],
  ['minContains', 'count'],
  ['maxContains', 'count'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['multipleOf', 'number'],
  ['uniqueItems', 'flag'],
  ['readOnly', 'flag'],
  ['writeOnly', 'flag'],
  ['deprecated', 'flag'],
  ['required', 'words'],
  ['items', 'schema'],
  ['contains', 'schema'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
  ['propertyNames', 'schema'],
  ['additionalProperties', 'schema'],
  ['unevaluatedItems', 'schema'],
  ['unevaluatedProperties', 'schema'],
  ['contentSchema', 'schema'],
  ['oneOf', 'schemas'],
  ['anyOf', 'schemas'],
  ['allOf', 'schemas'],
  ['prefixItems', 'schemas'],
  ['properties', 'schema map'],
  ['patternProperties', 'schema map'],
  ['dependentSchemas', 'schema map'],
  ['dependentRequired', 'word map'],
]);

/** The types of JSON. */
export const jsonTypes: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']);

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
