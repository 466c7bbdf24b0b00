import type * as fc from 'fast-check';

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
