import type { JsonMap } from '../../../document/document.ts';
import type { Variant } from '../../values/variants.ts';

/** What a query can carry: no null, nothing empty, nothing that is written like something else. */
export function isWritten({ value }: Variant): boolean {
  return value !== null && value !== '' && typeof value !== 'object';
}

/** A word is a word in a query, whatever it was meant to be: only what no reading of the text admits is broken. */
export function isBrokenWritten(shape: JsonMap, { value }: Variant): boolean {
  const types = typeof shape.type === 'string' ? [shape.type] : Array.isArray(shape.type) ? shape.type.map(String) : [];
  if (types.includes('string')) return typeof value === 'string';
  // In a query 7 and "7" are one.
  return !(
    typeof value === 'string' &&
    /^-?\d+(?:\.\d+)?$/.test(value) &&
    types.some((type) => type === 'integer' || type === 'number')
  );
}
