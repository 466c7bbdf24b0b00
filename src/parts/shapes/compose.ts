import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { unionOf } from './branches.ts';
import { alternativesWord, conjunctionWord, exclusiveWord } from './keywords.ts';

/** What fits all of these schemas. */
export function fitsAll<Schema>(schemas: readonly Schema[]): Record<string, readonly Schema[]> {
  return { [conjunctionWord]: schemas };
}

/** What fits one of these schemas, or several. */
export function fitsAny<Schema>(schemas: readonly Schema[]): Record<string, readonly Schema[]> {
  return { [alternativesWord]: schemas };
}

/** What fits exactly one of these schemas. */
export function fitsOne<Schema>(schemas: readonly Schema[]): Record<string, readonly Schema[]> {
  return { [exclusiveWord]: schemas };
}

/** Two alternatives of which one is null: how a resource that may be null is written out. */
export function orNull(schema: JsonMap): JsonMap {
  return fitsOne<Json>([schema, { type: 'null' }]);
}

/** What such alternatives allow besides null; nothing where a shape is none of them. */
export function besideNull(shape: JsonMap): JsonMap | undefined {
  const union = unionOf(shape);
  const [one, nothing] = union?.branches ?? [];
  const isNull = isMap(nothing) && nothing.type === 'null';
  return union?.isExclusive && union.branches.length === 2 && isNull && isMap(one) ? one : undefined;
}
