import type { Node } from './node.ts';

/** What is known to be there: paths by a key that two readings of the same thing share. */
export type Present = ReadonlySet<string>;

/** What follows for presence when a condition holds, and when it does not. */
export interface Consequences {
  readonly yes: Present;
  readonly no: Present;
}

export const nothingKnown: Present = new Set();
export const noConsequences: Consequences = { yes: nothingKnown, no: nothingKnown };

export function both(a: Present, b: Present): Present {
  return a.size === 0 ? b : b.size === 0 ? a : a.union(b);
}

export function shared(a: Present, b: Present): Present {
  return a.intersection(b);
}

/** A key of a path: a variable with fields and fixed places after it. `nameOf` tells apart variables that share a name. */
export function pathKey(node: Node, nameOf: (name: string) => string): string | undefined {
  if (node.op === 'name') return nameOf(node.name);
  if (node.op === 'field') {
    const of = pathKey(node.of, nameOf);
    return of === undefined ? undefined : `${of}.${JSON.stringify(node.name)}`;
  }
  if (node.op === 'find') {
    const keys = node.keys.map(({ field, value }) => {
      const key = value.op === 'literal' ? JSON.stringify(String(value.value)) : pathKey(value, nameOf);
      return key === undefined ? undefined : `${field}: ${key}`;
    });
    return keys.includes(undefined) ? undefined : `find(${node.resource}, ${keys.toSorted().join(', ')})`;
  }
  if (node.op !== 'index') return undefined;
  const of = pathKey(node.of, nameOf);
  const index = node.index.op === 'literal' ? String(node.index.value) : pathKey(node.index, nameOf);
  return of === undefined || index === undefined ? undefined : `${of}[${index}]`;
}
