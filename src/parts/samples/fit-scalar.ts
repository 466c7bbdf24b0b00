import type { Json } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import { isMultiple } from '../../kinds/multiples.ts';
import type { Shape } from '../shape.ts';

type Fits = (value: unknown) => boolean;

/** The tests of values, numbers and texts that a shape asks for; each passes what it is not about. */
export function compileScalar(shape: Shape): Fits[] {
  const tests: Fits[] = [];
  if (shape.const !== undefined) tests.push((value) => isSame(value, shape.const));
  if (Array.isArray(shape.enum)) {
    const listed: readonly Json[] = shape.enum;
    tests.push((value) => listed.some((one) => isSame(value, one)));
  }
  number(tests, shape.minimum, (value, bound) => value >= bound);
  number(tests, shape.maximum, (value, bound) => value <= bound);
  number(tests, shape.exclusiveMinimum, (value, bound) => value > bound);
  number(tests, shape.exclusiveMaximum, (value, bound) => value < bound);
  number(tests, shape.multipleOf, isMultiple);
  const { minLength, maxLength, pattern } = shape;
  if (typeof minLength === 'number') tests.push((value) => typeof value !== 'string' || lengthOf(value) >= minLength);
  if (typeof maxLength === 'number') tests.push((value) => typeof value !== 'string' || lengthOf(value) <= maxLength);
  if (typeof pattern === 'string') {
    const expression = expressionOf(pattern);
    tests.push((value) => typeof value !== 'string' || (expression?.test(value) ?? false));
  }
  return tests;
}

function number(tests: Fits[], bound: Json | undefined, holds: (value: number | bigint, bound: number) => boolean): void {
  if (typeof bound !== 'number') return;
  tests.push((value) => (typeof value !== 'number' && typeof value !== 'bigint') || holds(value, bound));
}

/** In characters, not in halves of them. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _character of text) length += 1;
  return length;
}

function expressionOf(pattern: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags);
    } catch {}
  }
  return undefined;
}
