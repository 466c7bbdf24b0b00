import type { Format } from './kind.ts';

/** A signed integer of 64 bits (OpenAPI format registry), kept exactly: past 2^53 it is a BigInt. */
export const int64 = {
  word: 'int64',
  type: 'number',
  meaning: 'an integer of 64 bits',
  example: 9_007_199_254_740_991,
  standsFor: 'wide integer',
  test: (value) => {
    if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value;
    return Number.isInteger(value) && Number(value) >= -(2 ** 63) && Number(value) < 2 ** 63;
  },
} as const satisfies Format;
