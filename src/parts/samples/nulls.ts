/** What is made where null may stand. */

import { formatNamed } from '../../kinds/formats/all.ts';
import type { Shape } from '../shape.ts';
import { isPlainMap } from '../source.ts';
import type { Manner } from './fit.ts';
import { typeMade } from './leaves.ts';
import { nothing, type SampleMeans } from './sampler.ts';

/**
 * Null is the plainest of values where it is one, but for lists, which clients go through. The smallest has something to show, and so have lists and maps, and what lists hold, in
 * what shows all: generators write that nearly everything may be null, and an answer of nulls is none.
 */
export function nullOrShown(means: SampleMeans, shape: Shape, name: string, size: Manner['size']): SampleMeans {
  if (size !== 'ordinary')
    return {
      ...means,
      make(ground, path) {
        const made = means.make(ground, path);
        return made === nothing ? null : made;
      },
    };
  const isList = isEmptiedList(shape);
  const shown = mayNotBe(shape, name) ? 'never' : holdsThings(shape) ? 'anywhere' : 'in lists';
  return {
    ...means,
    make(ground, path) {
      const isShown = shown === 'anywhere' || (shown === 'in lists' && /\/\d+(?:\/|$)/.test(path));
      const made = isShown && ground.isFull && !ground.keepsNull ? means.make(ground, path) : nothing;
      return made === nothing ? (isList ? [] : null) : made;
    },
  };
}

/** Whether null says of a thing that something has not come about: when it was deleted, what went wrong, what it stands below. */
function mayNotBe(shape: Shape, name: string): boolean {
  const isMoment = typeof shape.format === 'string' && formatNamed(shape.format)?.time !== undefined;
  return (
    isMoment ||
    typeMade(shape) === 'boolean' ||
    /(?:_at|_on|At|On|[dD]ate|[tT]ime|_?errors?|[eE]rrors?|[rR]eason|[pP]arent\w*)$/.test(name)
  );
}

/** Whether a shape is that of lists, or of maps with known members. */
function holdsThings(shape: Shape): boolean {
  return isEmptiedList(shape) || isPlainMap(shape.properties) || typeof shape.resource === 'string';
}

/** Whether a shape is that of lists which may be empty. */
function isEmptiedList(shape: Shape): boolean {
  const isShort = shape.minItems === undefined && shape.contains === undefined && shape.prefixItems === undefined;
  return typeMade(shape) === 'array' && isShort && shape.enum === undefined;
}
