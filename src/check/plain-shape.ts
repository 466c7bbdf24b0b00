import { isMap } from '../document/values.ts';
import type { Shape } from '../parts/shape.ts';
import { someInside } from '../parts/shapes/inner.ts';

/** Whether a shape has only keywords that have been held to their form already: a metaschema has nothing to add. */
export function isPlain(shape: Shape): boolean {
  return !someInside(shape, (one) => !saysPlainly(one));
}

/** Whether this is so of a shape's own keywords. */
function saysPlainly(shape: Shape): boolean {
  return Object.entries(shape).every(([key, value]) => {
    if (key === 'items' || key === 'additionalProperties') return true;
    if (key === 'properties') return isMap(value) && Object.values(value).every(isMap);
    if (key === 'required') return Array.isArray(value) && new Set(value).size === value.length;
    if (key === 'pattern') return typeof value === 'string' && isPattern(value);
    return plainKeywords.has(key) || ignored.has(key);
  });
}

/** Whether a text is a regular expression as validators read it (ECMA-262, with the flag `u`). */
function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').unicode;
  } catch {
    return false;
  }
}

/** What a shape says besides the schema that it is. */
export const ignored: ReadonlySet<string> = new Set([
  '$schema',
  'resource',
  'ref',
  'shape',
  'title',
  'description',
  '$comment',
  'example',
  'examples',
  'default',
  'discriminator',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

const plainKeywords: ReadonlySet<string> = new Set([
  'type',
  'enum',
  'const',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'uniqueItems',
]);
