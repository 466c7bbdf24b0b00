/** What the layers of a strange document share: how they are laid over each other, and what stands in one. */
import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import type { GeneratedResource } from '../serving/generated-document.ts';
import type { Draw } from '../serving/generated-values.ts';

/** A document that is being drawn, and what its layers know of it. */
export interface Draft {
  readonly document: JsonMap;
  /** Those with endpoints of the usual sort. */
  readonly resources: readonly GeneratedResource[];
  /** What was drawn, for tables: `envelope none`, `pages after`. */
  readonly traits: readonly string[];
}

/** Whether something that is drawn once in so many times is drawn now. */
export function oneIn(draw: Draw, times: number): boolean {
  return draw(fc.nat, { max: times - 1 }) === times - 1;
}

/** A draft with more stated; lists and values that are there already give way. */
export function laid({ document, resources, traits }: Draft, change: JsonMap, ...told: readonly string[]): Draft {
  return { document: merged(document, change), resources, traits: [...traits, ...told] };
}

/** Two maps as one: maps are merged, anything else of the second stands. */
export function merged(one: JsonMap, other: JsonMap): JsonMap {
  const entries = Object.entries(other).map(([key, value]): [string, Json] => {
    const before = one[key];
    return [key, isMap(before) && isMap(value) ? merged(before, value) : value];
  });
  return Object.fromEntries([...Object.entries(one), ...entries]);
}

/** Whether a value is a map. */
export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A map at a path of a document, or an empty one. */
export function mapAt(document: JsonMap, ...path: readonly string[]): JsonMap {
  let at: Json = document;
  for (const key of path) {
    const below: Json | undefined = isMap(at) ? at[key] : undefined;
    at = below ?? {};
  }
  return isMap(at) ? at : {};
}

/** The operations of a document, with the method and path of each. */
export function operationsOf(document: JsonMap): { readonly name: string; readonly does: string; readonly route: string }[] {
  return Object.entries(mapAt(document, 'endpoints')).flatMap(([route, stated]) => {
    if (!isMap(stated) || typeof stated.does !== 'string') return [];
    const { does, as } = stated;
    return [{ name: typeof as === 'string' ? as : does, does, route }];
  });
}
