import { isMap } from '../document/values.ts';
import type { Shape } from '../parts/shape.ts';

/** Whether a shape has only keywords that have been held to their form already: a metaschema has nothing to add. */
export function isPlain(shape: Shape): boolean {
  return Object.entries(shape).every(([key, value]) => {
    if (key === 'items' || key === 'additionalProperties') return !isMap(value) || isPlain(value);
    if (key === 'properties') return isMap(value) && Object.values(value).every((inner) => isMap(inner) && isPlain(inner));
    if (key === 'required') return Array.isArray(value) && new Set(value).size === value.length;
    return plainKeywords.has(key);
  });
}

const plainKeywords: ReadonlySet<string> = new Set([
  'type',
  'enum',
  'const',
  'format',
  'resource',
  'ref',
  'title',
  'description',
  'example',
  'examples',
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
