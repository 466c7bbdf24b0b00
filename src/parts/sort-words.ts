import type { Named } from './fact.ts';
import type { Shape } from './shape.ts';

/** The words of a parameter with names of its own to sort by. */
export function sortShape(names: Named<string>): Shape {
  const words = Object.keys(names);
  return { type: 'string', enum: [...words, ...words.map((word) => `-${word}`)] };
}

/** The words of a parameter for the direction. */
export const directions: Shape = { type: 'string', enum: ['asc', 'desc'] };
