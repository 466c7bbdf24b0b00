import type { Ajv, Format, Options } from 'ajv';
import { _, Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { formats } from '../../kinds/formats/all.ts';
import { isMultiple } from '../../kinds/multiples.ts';
import { compilePattern, type Pattern } from '../patterns/pattern.ts';

/**
 * Sets up ajv for JSON Schema 2020-12 as everybody here means it: words that it does not know are ignored, the formats of the standard
 * and of the language are asserted, multiples are counted in decimal digits, and patterns are looked for in linear time. Where that
 * cannot be told of a text, `isTaken` says whether it is found. What else a room wants, it says.
 */
export function newAjv(options: Options = {}, isTaken: () => boolean = () => true): Ajv2020 {
  const regExp = Object.assign((pattern: string) => expressionFor(pattern, isTaken), { code: 'new RegExp' });
  const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false, ...options, code: { regExp } });
  addFormats(ajv);
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (factor: number, value: number) => isMultiple(value, factor),
  });
  addPattern(ajv, isTaken);
  return ajv;
}

/** A `pattern` that passes a string which is longer than its stated length: that is said already. */
function addPattern(ajv: Ajv2020, isTaken: () => boolean): void {
  ajv.removeKeyword('pattern');
  ajv.addKeyword({
    keyword: 'pattern',
    type: 'string',
    schemaType: 'string',
    error: { message: 'must match pattern', params: ({ schemaCode }) => _`{pattern: ${schemaCode}}` },
    compile(pattern: string, parent) {
      const compiled = patternOf(pattern);
      // The cast holds: a schema's keywords may be anything. A character is two code units at most.
      const { maxLength } = parent as { maxLength?: unknown };
      const most = typeof maxLength === 'number' ? maxLength * 2 : Number.POSITIVE_INFINITY;
      return (text: string) => text.length > most || (compiled.test(text) ?? isTaken());
    },
  });
}

/** A pattern as ajv asks it about names. */
function expressionFor(pattern: string, isTaken: () => boolean): { test(text: string): boolean } {
  const compiled = patternOf(pattern);
  return { test: (text) => compiled.test(text) ?? isTaken(), toString: () => `/${pattern}/` } as { test(text: string): boolean };
}

/** @throws {SyntaxError} as any engine that is given what is no pattern. */
function patternOf(pattern: string): Pattern {
  const compiled = compilePattern(pattern);
  if (!compiled) throw new SyntaxError(`\`${pattern}\` is no pattern`);
  return compiled;
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
