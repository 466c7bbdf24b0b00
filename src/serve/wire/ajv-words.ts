import type { Ajv, Format as AjvFormat } from 'ajv';
import { _ } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { formats } from '../../kinds/formats/all.ts';
import { isMultiple } from '../../kinds/multiples.ts';
import { alikeItems, exactKeywords } from './exact-integer.ts';
import { isSchema } from './schema.ts';
import { WireFile } from './wire-file.ts';

/** Adds the standard's formats, tightened where ajv-formats is lax or slow, and the language's own. */
export function addFormats(ajv: Ajv): void {
  for (const [name, format] of Object.entries(fullFormats)) ajv.addFormat(name, format as AjvFormat);
  for (const [name, most] of slowFormats) ajv.addFormat(name, capped(name, most));
  const time = testOf('time');
  ajv.addFormat('time', (text: string) => OFFSET.test(text) && time(text));
  for (const { word: name, type, test } of formats) {
    if (type === 'number') ajv.addFormat(name, { type, validate: (value: number) => test(value) });
    else ajv.addFormat(name, (value: string) => test(value));
  }
}

/**
 * Adds the words that schemas are prepared to: `wireBytes`, the exact keywords, a `uniqueItems` that is linear and survives a
 * member named `valueOf`, a `multipleOf` that counts in decimals, and a `pattern` that passes a string which is longer than its
 * stated length.
 */
export function addKeywords(ajv: Ajv): void {
  ajv.addKeyword({ keyword: 'wireBytes', validate: fitsBytes });
  ajv.addKeyword({ keyword: 'exactFormat', validate: fitsNumericFormat });
  for (const [keyword, validate] of Object.entries(exactKeywords)) ajv.addKeyword({ keyword, validate });
  ajv.removeKeyword('uniqueItems');
  const areUnique = (stated: unknown, items: unknown) =>
    stated !== true || !Array.isArray(items) || alikeItems(items) === undefined;
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', validate: areUnique });
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (factor: number, value: number) => isMultiple(value, factor),
  });
  ajv.removeKeyword('pattern');
  ajv.addKeyword({
    keyword: 'pattern',
    type: 'string',
    schemaType: 'string',
    error: { message: 'must match pattern', params: ({ schemaCode }) => _`{pattern: ${schemaCode}}` },
    compile(pattern: string, parent) {
      const expression = regExp(pattern, 'u');
      // The cast holds: a schema's keywords may be anything. A character is two code units at most.
      const { maxLength } = parent as { maxLength?: unknown };
      const most = typeof maxLength === 'number' ? maxLength * 2 : Number.POSITIVE_INFINITY;
      return (text: string) => text.length > most || expression.test(text);
    },
  });
}

/** Makes a pattern's expression: Unicode where the pattern allows it, else as older authors wrote it. */
export function regExp(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern, flags.replace('u', ''));
  }
}
regExp.code = 'new RegExp';

/** RFC 3339 section 5.6: an offset has its minutes. */
const OFFSET = /(?:z|[+-]\d\d:\d\d)$/i;

/** Formats whose test is worse than linear, with the longest text that is worth it. */
const slowFormats: readonly (readonly [string, number])[] = [
  ['url', 2048],
  ['regex', 4096],
];

function capped(name: string, most: number): (text: string) => boolean {
  const test = testOf(name);
  return (text) => text.length <= most && test(text);
}

function testOf(name: string): (text: string) => boolean {
  // The cast holds: the names asked for are among those of ajv-formats.
  const format = fullFormats[name as keyof typeof fullFormats];
  const validate = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (validate instanceof RegExp) return (text) => validate.test(text);
  return typeof validate === 'function' ? (text) => Boolean((validate as (text: string) => unknown)(text)) : () => true;
}

function fitsNumericFormat(format: unknown, value: unknown): boolean {
  const kind = formats.find(({ word }) => word === format);
  return kind === undefined || !(typeof value === 'number' || typeof value === 'bigint') || kind.test(value);
}

function fitsBytes(stated: unknown, value: unknown): boolean {
  if (!isSchema(stated) || !Array.isArray(stated.types)) return true;
  if (value === null) return stated.types.includes('null');
  if (!(value instanceof WireFile) && typeof value !== 'string') return false;
  const length = typeof value === 'string' ? value.length : value.bytes.length;
  const { minimum, maximum } = stated;
  return !(typeof minimum === 'number' && length < minimum) && !(typeof maximum === 'number' && length > maximum);
}
