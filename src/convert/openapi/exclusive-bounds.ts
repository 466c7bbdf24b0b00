import type { JsonMap } from '../../document/document.ts';
import type { OpenMap } from '../../document/values.ts';
import type { Reader } from './reader.ts';

/** Reads the ends that are left out: bounds of their own, or flags beside a bound as they were before 3.1. Gives the keys that are neither. */
export function readExclusives(shape: OpenMap, schema: JsonMap, reader: Reader): string[] {
  const invalid: string[] = [];
  for (const [key, bound] of exclusives) {
    const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
    if (value === undefined) continue;
    if (typeof value === 'number') shape[key] = value;
    else if (value === true && typeof schema[bound] === 'number') {
      shape[key] = schema[bound];
      delete shape[bound];
    } else if (typeof value !== 'boolean') {
      invalid.push(key);
      continue;
    }
    reader.mark(schema, key);
  }
  return invalid;
}

const exclusives = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;
