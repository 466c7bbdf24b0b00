import * as fc from 'fast-check';
import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { boundsOf, NoValue, texts } from './scalars.ts';

/** So many items are made at most: a list that may have more is not filled. */
export const itemsMost = 201;

const known = new WeakMap<JsonMap, readonly Json[]>();

/**
 * As many different items of a list as are found, at most `count`: words of an enumeration, numbers between the bounds, texts of a pattern, a
 * format or a length. Nothing for lists of lists, of objects and of rows, whose items are not made of their shape alone.
 */
export function distinctItems(items: Json | undefined, count: number): readonly Json[] {
  if (!isMap(items)) return [];
  const found = known.get(items) ?? distinct(items);
  known.set(items, found);
  return found.slice(0, count);
}

function distinct(shape: JsonMap): readonly Json[] {
  if (Array.isArray(shape.enum)) return shape.enum as readonly Json[];
  if ('ref' in shape || 'resource' in shape || 'const' in shape) return [];
  const { type } = shape;
  if (type === 'boolean') return [true, false];
  if (type === 'integer' || type === 'number') return numbersOf(shape, type);
  return type === 'string' ? textsOf(shape) : [];
}

function numbersOf(shape: JsonMap, type: 'integer' | 'number'): Json[] {
  const { min, max, step } = boundsOf(shape, type);
  const by = step === 0 ? 1 : step;
  const from = Math.ceil(min / by - 1e-9);
  const to = Math.floor(max / by + 1e-9);
  if (from > to) return [];
  const first = Math.min(Math.max(from, 1), to);
  const found: Json[] = [];
  for (let at = first; at <= to && found.length < itemsMost; at++) found.push(Number((at * by).toPrecision(15)));
  for (let at = first - 1; at >= from && found.length < itemsMost; at--) found.push(Number((at * by).toPrecision(15)));
  return found;
}

function textsOf(shape: JsonMap): Json[] {
  if (shape.pattern === undefined && shape.format === undefined) return wordsOf(shape);
  try {
    const drawn = fc.sample(texts(shape, 'full'), { seed: 1, numRuns: 2 * itemsMost });
    return [...new Set(drawn)].slice(0, itemsMost);
  } catch (error) {
    if (error instanceof NoValue) return [];
    throw error;
  }
}

/** Short words that differ in their end, as long as the shape asks. */
function wordsOf({ minLength, maxLength }: JsonMap): Json[] {
  const least = typeof minLength === 'number' ? minLength : 0;
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  if (least > 1000) return [];
  const words = Array.from({ length: itemsMost }, (_, at) => `item${at}`).map((word) => word.padStart(least, 'x'));
  const few = Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => letter.padStart(least, 'x'));
  return (most >= 7 ? words : few).filter((word) => word.length <= most);
}
