import type { JsonMap } from '../document/document.ts';
import { entryOf, statedValue } from './fact.ts';
import type { Shape } from './shape.ts';
import type { Spec } from './spec.ts';

/** The shape of a resource that is a value without fields, such as a union or a word with bounds; nothing for any other. */
export function valueShape(spec: Spec, name: string): Shape | undefined {
  const resource = entryOf(spec.resources.all, name);
  if (resource?.shape === undefined || resource.fields.standing !== 'none') return undefined;
  return statedValue(resource.shape);
}

/** A shape with the names of such values followed, as far as they lead; each name once. */
export function resolvedShape(spec: Spec, shape: JsonMap): JsonMap {
  let resolved = shape;
  const seen = new Set<string>();
  while (typeof resolved.resource === 'string' && !seen.has(resolved.resource)) {
    seen.add(resolved.resource);
    const inner = valueShape(spec, resolved.resource);
    if (inner === undefined) return resolved;
    const { resource: _name, ...beside } = resolved;
    resolved = { ...inner, ...beside };
  }
  return resolved;
}
