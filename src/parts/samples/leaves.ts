import type { Json } from '../../document/document.ts';
import type { Shape } from '../shape.ts';
import type { Chance } from './chance.ts';
import type { Fits } from './fit.ts';
import { nothing } from './nothing.ts';
import { compileNumbers } from './numbers.ts';
import { compileTexts } from './texts.ts';

/** Makes what has no members: a constant, a listed value, a default or an example that fits, a text or a number of the shape. */
export function compileLeaf(shape: Shape, type: string | undefined, name: string, fits: Fits): (chance: Chance) => unknown {
  if (shape.const !== undefined) return () => shape.const;
  if (Array.isArray(shape.enum)) {
    const listed: readonly Json[] = shape.enum.filter((value: Json) => fits(value));
    if (listed.includes(null)) return () => null;
    return (chance) => (listed.length === 0 ? nothing : listed[chance.below(listed.length)]);
  }
  if (shape.default !== undefined && fits(shape.default)) return () => shape.default;
  const examples = examplesIn(shape).filter((example) => typeof example !== 'object' && fits(example));
  if (examples.length > 0) return (chance) => examples[chance.below(examples.length)];
  if (type === 'boolean') return () => false;
  if (type === 'string') return orNothing(compileTexts(shape, name));
  if (type === 'integer' || type === 'number') return orNothing(compileNumbers(shape, type === 'integer', name));
  // Nothing is said of it, or that it is null.
  return () => null;
}

/** The examples that stand beside a shape. */
export function examplesIn(shape: Shape): readonly Json[] {
  const listed = Array.isArray(shape.examples) ? shape.examples : [];
  return shape.example === undefined ? listed : [shape.example, ...listed];
}

function orNothing(make: (chance: Chance) => string | number | undefined): (chance: Chance) => unknown {
  return (chance) => make(chance) ?? nothing;
}
