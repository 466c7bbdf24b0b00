import type { Ajv } from 'ajv';
import { formats } from '../../kinds/formats/all.ts';
import { standardTest } from '../../parts/shapes/validators.ts';
import { alikeItems, exactKeywords } from './json.ts';
import { isSchema } from './schema.ts';
import { WireFile } from './violation.ts';

/** Tightens the formats whose test is worse than linear in what strangers send. */
export function capFormats(ajv: Ajv): void {
  for (const [name, most] of slowFormats) ajv.addFormat(name, capped(name, most));
}

/**
 * Adds the words that schemas are prepared to: `wireBytes`, the exact keywords, and a `uniqueItems` that is linear and
 * survives a member named `valueOf`.
 */
export function addKeywords(ajv: Ajv): void {
  ajv.addKeyword({ keyword: 'wireBytes', validate: fitsBytes });
  ajv.addKeyword({ keyword: 'exactFormat', validate: fitsNumericFormat });
  for (const [keyword, validate] of Object.entries(exactKeywords)) ajv.addKeyword({ keyword, validate });
  ajv.removeKeyword('uniqueItems');
  const areUnique = (stated: unknown, items: unknown) =>
    stated !== true || !Array.isArray(items) || alikeItems(items) === undefined;
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', validate: areUnique });
}

/** Formats whose test is worse than linear, with the longest text that is worth it. */
const slowFormats: readonly (readonly [string, number])[] = [
  ['url', 2048],
  ['regex', 4096],
];

function capped(name: string, most: number): (text: string) => boolean {
  const test = standardTest(name);
  return (text) => text.length <= most && test(text);
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
