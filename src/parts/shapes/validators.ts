import type { Ajv, Format, Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { formats } from '../../kinds/formats/all.ts';
import { isMultiple } from '../../kinds/multiples.ts';

/**
 * Sets up ajv for JSON Schema 2020-12 as everybody here means it: words that it does not know are ignored, the formats of the standard
 * and of the language are asserted, and multiples are counted in decimal digits. What else a room wants, it says.
 */
export function newAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false, ...options });
  addFormats(ajv);
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (factor: number, value: number) => isMultiple(value, factor),
  });
  return ajv;
}

/** The names of the formats that are asserted. */
export function formatNames(): readonly string[] {
  return [...Object.keys(fullFormats), ...formats.map(({ word }) => word)];
}

/** How ajv-formats tests one of the standard's formats; a name that it does not have takes anything. */
export function standardTest(name: string): (text: string) => boolean {
  const format = Object.hasOwn(fullFormats, name) ? fullFormats[name as keyof typeof fullFormats] : undefined;
  const validate = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (validate instanceof RegExp) return (text) => validate.test(text);
  // The cast holds: those of ajv-formats that test numbers are tested by the language's own of the same name.
  return typeof validate === 'function' ? (text) => Boolean((validate as (text: string) => unknown)(text)) : () => true;
}

function addFormats(ajv: Ajv): void {
  for (const [name, format] of Object.entries(fullFormats)) ajv.addFormat(name, format as Format);
  const time = standardTest('time');
  ajv.addFormat('time', (text: string) => offset.test(text) && time(text));
  for (const { word: name, type, test } of formats) {
    if (type === 'number') ajv.addFormat(name, { type, validate: test });
    else ajv.addFormat(name, test);
  }
}

/** RFC 3339 section 5.6: an offset has its minutes. */
const offset = /(?:z|[+-]\d\d:\d\d)$/i;
