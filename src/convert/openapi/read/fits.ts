import type { Json, JsonMap } from '../../../document/document.ts';
import { isOfType, jsonTypes } from '../../../document/json-type.ts';
import { isMap } from '../../../document/values.ts';
import { formatNamed } from '../../../kinds/formats/all.ts';
import { compilePattern } from '../../../parts/patterns/pattern.ts';
import { standardTest } from '../../../parts/shapes/validators.ts';

/** Whether a value fits the keywords of a shape that speak of single values; what holds others is not gone into. */
export function fitsSchema(shape: JsonMap, value: Json): boolean {
  const { type, enum: allowed, pattern, minLength, maxLength, minimum, maximum } = shape;
  const types = (Array.isArray(type) ? type : [type]).filter((word): word is string => typeof word === 'string');
  // A word that is no type of JSON, such as the name of a resource, takes anything.
  if (types.length > 0 && types.every((word) => jsonTypes.has(word) && !isOfType(value, word))) return false;
  if (Array.isArray(allowed) && !allowed.some((item: Json) => item === value || JSON.stringify(item) === JSON.stringify(value)))
    return false;
  if (typeof value === 'string') {
    const { length } = [...value];
    if (typeof minLength === 'number' && length < minLength) return false;
    if (typeof maxLength === 'number' && length > maxLength) return false;
    if (typeof pattern === 'string' && isPattern(pattern) && compilePattern(pattern)?.test(value) === false) return false;
    // Formats differ in what they admit; a default is held to those that a reader is held to.
    return value !== '' || admitsEmpty(shape.format);
  }
  if (Array.isArray(value)) return !(typeof shape.minItems === 'number' && value.length < shape.minItems);
  if (isMap(value)) return !(typeof shape.minProperties === 'number' && Object.keys(value).length < shape.minProperties);
  if (typeof value === 'number') {
    if (typeof minimum === 'number' && value < minimum) return false;
    if (typeof maximum === 'number' && value > maximum) return false;
  }
  return true;
}

/** Whether an empty text is of a format: of none that its tests refuse it for, nor of an address by its common name. */
function admitsEmpty(format: unknown): boolean {
  if (typeof format !== 'string') return true;
  return format !== 'url' && (formatNamed(format)?.test('') ?? standardTest(format)(''));
}

/** Whether a text is a regular expression as JSON Schema reads it (ECMA-262 with the u flag). */
export function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').flags === 'u';
  } catch {
    return false;
  }
}

/** The same expression without escapes of letters and signs that need none, which the u flag does not allow. */
export function unicodePattern(text: string): string {
  if (isPattern(text)) return text;
  const mended = text.replaceAll(/\\([^\dA-Za-z^$\\.*+?()[\]{}|/-])/gu, '$1').replaceAll(/\\-(?![^[]*\])/g, '-');
  return isPattern(mended) ? mended : text;
}
