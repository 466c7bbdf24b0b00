import * as fc from 'fast-check';
import type { JsonMap } from '../../document/document.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import type { SampleStyle } from '../exchange/row.ts';

/** The bounds of a number's shape; absent ones are bounds that every implementation of JSON keeps. */
export function boundsOf(
  shape: JsonMap,
  type: 'integer' | 'number',
): { readonly min: number; readonly max: number; readonly step: number } {
  const of = (word: string) => (typeof shape[word] === 'number' ? shape[word] : undefined);
  const step = of('multipleOf') ?? (type === 'integer' ? 1 : 0);
  const gap = step === 0 ? 0.001 : step;
  const above = of('exclusiveMinimum');
  const below = of('exclusiveMaximum');
  const [lowest, highest] = formatNamed(shape.format)?.time ? [0, 4_000_000_000] : [-(2 ** 31), 2 ** 31 - 1];
  const least = Math.max(of('minimum') ?? Number.NEGATIVE_INFINITY, above === undefined ? Number.NEGATIVE_INFINITY : above + gap);
  const most = Math.min(of('maximum') ?? Number.POSITIVE_INFINITY, below === undefined ? Number.POSITIVE_INFINITY : below - gap);
  const min = Number.isFinite(least) ? least : Math.min(lowest, Number.isFinite(most) ? most - 1000 : lowest);
  return { min, max: Number.isFinite(most) ? most : Math.max(highest, min + 1000), step };
}

/** Numbers of a shape: at the bounds, near them, and between. */
export function numbers(shape: JsonMap, type: 'integer' | 'number', style: SampleStyle): fc.Arbitrary<number> {
  const { min, max, step } = boundsOf(shape, type);
  if (step > 0) {
    const from = Math.ceil(min / step - 1e-9);
    const to = Math.floor(max / step + 1e-9);
    const plain = Math.min(Math.max(from, 1), to);
    // A step such as 0.01 is reckoned from the text of it, so that no digit is made up.
    const scaled = (count: number) => Number((count * step).toPrecision(15));
    return style === 'plain' ? fc.constant(scaled(plain)) : fc.integer({ min: from, max: to }).map(scaled);
  }
  if (style === 'plain') return fc.constant(Math.min(Math.max(min, 1), max));
  return fc.oneof(
    fc.constant(min),
    fc.constant(max),
    fc.integer({ min: 0, max: 1000 }).map((part) => between(min, max, part / 1000)),
  );
}

function between(min: number, max: number, share: number): number {
  const value = Number((min + (max - min) * share).toPrecision(9));
  return Math.min(Math.max(value, min), max);
}

/** No value of the shape is found by what we know. */
export class NoValue extends Error {
  override readonly name = 'NoValue';
}

const missesMax = 1000;

/** The values that fit; where a thousand in a row do not, there may be none. @throws {NoValue} when one is drawn */
export function fitting<T>(values: fc.Arbitrary<T>, fits: (value: T) => boolean): fc.Arbitrary<T> {
  let misses = 0;
  return values.filter((value) => {
    if (fits(value)) {
      misses = 0;
      return true;
    }
    misses += 1;
    if (misses > missesMax) throw new NoValue('a thousand draws brought no value that fits');
    return false;
  });
}
