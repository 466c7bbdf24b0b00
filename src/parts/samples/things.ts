import type { Shape } from '../shape.ts';
import type { Ground } from './sampler.ts';

/** Where a thing is to stand and its identifier is given, the thing; else what is given. */
export function rowMeant({ resource }: Shape, given: unknown, ground: Ground): unknown {
  const isIdentifier = typeof given === 'string' || typeof given === 'number';
  return typeof resource === 'string' && isIdentifier ? (ground.rowOf?.(resource, given) ?? given) : given;
}

/** Where a thing of its own stands inside another, one that is there. */
export function thingThere({ resource }: Shape, ground: Ground, path: string): unknown {
  if (typeof resource !== 'string' || path === '' || !ground.rowOf) return undefined;
  const id = ground.identifierOf(resource, path);
  return typeof id === 'string' || typeof id === 'number' ? ground.rowOf(resource, id) : undefined;
}
