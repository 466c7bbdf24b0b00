import type { Json, JsonMap } from '../../document/document.ts';
import type { Shape } from '../shape.ts';
import { fitsAll } from '../shapes/compose.ts';
import { isMap } from '../source.ts';

/**
 * Several shapes that a value has to fit at once, as one: members and lists of what is required together, types that all
 * admit, and of every other keyword the first that says something. What this loses is found by testing what it leads to.
 */
export function mergeShapes(shapes: readonly Shape[]): Shape {
  let merged: Record<string, Json> = Object.create(null);
  for (const shape of shapes) merged = { ...merged, ...mergedKeywords(merged, shape) };
  return merged;
}

function mergedKeywords(before: JsonMap, shape: Shape): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const [key, value] of Object.entries(shape)) {
    const known = before[key];
    out[key] = known === undefined ? value : mergedKeyword(key, known, value);
  }
  return out;
}

function mergedKeyword(key: string, known: Json, value: Json): Json {
  if (key === 'properties' && isMap(known) && isMap(value)) return mergedMembers(known, value);
  if (key === 'required') return [...new Set([...listOf(known), ...listOf(value)])];
  if (key === 'type') {
    const both = wordsOf(known).filter((type) => wordsOf(value).some((other) => admits(other, type)));
    return both.length === 1 ? (both[0] ?? known) : both;
  }
  if (key === 'enum') return listOf(known).filter((one) => listOf(value).some((other) => other === one));
  if ((key === 'minimum' || key === 'minLength' || key === 'minItems') && isNumber(known) && isNumber(value))
    return Math.max(known, value);
  if ((key === 'maximum' || key === 'maxLength' || key === 'maxItems') && isNumber(known) && isNumber(value))
    return Math.min(known, value);
  return known;
}

function mergedMembers(known: JsonMap, value: JsonMap): JsonMap {
  const members: Record<string, Json> = { ...known };
  for (const [name, shape] of Object.entries(value)) {
    const before = members[name];
    members[name] = before !== undefined && isMap(before) && isMap(shape) ? fitsAll([before, shape]) : shape;
  }
  return members;
}

function admits(wide: string, narrow: string): boolean {
  return wide === narrow || (wide === 'number' && narrow === 'integer');
}

function wordsOf(value: Json): string[] {
  return (Array.isArray(value) ? value : [value]).filter((word: Json): word is string => typeof word === 'string');
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function isNumber(value: Json): value is number {
  return typeof value === 'number';
}
