import type { Json } from '../../document/document.ts';
import type { Shape } from '../shape.ts';
import type { Chance } from './chance.ts';
import type { Fits } from './fit.ts';
import { nothing } from './nothing.ts';
import { compileNumbers } from './numbers.ts';
import { smallestNumber, smallestText } from './smallest.ts';
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

/** The smallest of what has no members: the first listed value or example, else a text or a number; nothing where nothing is said. */
export function compileSmallestLeaf(shape: Shape, type: string | undefined, name: string, fits: Fits): () => unknown {
  if (shape.const !== undefined) return () => shape.const;
  const listed: readonly Json[] = Array.isArray(shape.enum) ? shape.enum : [];
  const given = [...listed, ...examplesIn(shape)].find((value) => value !== null && fits(value));
  if (given !== undefined) return () => given;
  const made = listed.length > 0 ? nothing : smallestOf(shape, type, name);
  return () => made;
}

function smallestOf(shape: Shape, type: string | undefined, name: string): unknown {
  if (type === 'boolean') return false;
  if (type === 'string') return smallestText(shape, name) ?? nothing;
  if (type === 'integer' || type === 'number') return smallestNumber(shape, type === 'integer');
  return type === 'null' ? null : nothing;
}

/** The type of the values that are made: the first stated one, else the one that the keywords are about. */
export function typeMade(shape: Shape): string | undefined {
  const types = Array.isArray(shape.type) ? shape.type : [shape.type];
  const stated = types.find((type) => typeof type === 'string');
  if (typeof stated === 'string') return stated;
  if (shape.const !== undefined || Array.isArray(shape.enum)) return undefined;
  if (shape.properties !== undefined || shape.required !== undefined || shape.additionalProperties !== undefined) return 'object';
  if (shape.items !== undefined || shape.minItems !== undefined) return 'array';
  if (shape.pattern !== undefined || shape.minLength !== undefined || shape.format !== undefined) return 'string';
  return shape.minimum !== undefined || shape.maximum !== undefined ? 'number' : undefined;
}

/** The examples that stand beside a shape. */
export function examplesIn(shape: Shape): readonly Json[] {
  const listed = Array.isArray(shape.examples) ? shape.examples : [];
  return shape.example === undefined ? listed : [shape.example, ...listed];
}

function orNothing(make: (chance: Chance) => string | number | undefined): (chance: Chance) => unknown {
  return (chance) => make(chance) ?? nothing;
}
