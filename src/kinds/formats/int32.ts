import type { Format } from './kind.ts';

/** A signed integer of 32 bits (OpenAPI format registry). */
export const int32 = {
  word: 'int32',
  type: 'number',
  meaning: 'an integer of 32 bits',
  example: 2_147_483_647,
  schema: { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  within: ['int64'],
  test: (value) => typeof value === 'number' && Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31,
} as const satisfies Format;
