import type { Format } from './kind.ts';

/** A decimal number written in a string, so that no digit is lost (OpenAPI format registry): `12.50`, without exponent. */
export const decimal = {
  word: 'decimal',
  type: 'string',
  meaning: 'a decimal number in a string',
  example: '12.50',
  nearMisses: ['1,5', '1e5', '.5', '+1', '1.', 'one'],
  schema: { pattern: '^-?(?:0|[1-9]\\d*)(?:\\.\\d+)?$' },
  standsFor: 'digits',
  test: (value) => typeof value === 'string' && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value),
} as const satisfies Format;
