import type { Format } from './kind.ts';

/** A telephone number in full (ITU-T E.164): `+`, the country's code, 7 to 15 digits in all, nothing between them. */
export const phone = {
  word: 'phone',
  type: 'string',
  isPersonal: true,
  meaning: 'a telephone number in full, such as +4930901820',
  example: '+4930901820',
  nearMisses: ['030901820', '+49 30 901820', '+0301820999', '+49309018201234567'],
  schema: { pattern: '^\\+[1-9]\\d{6,14}$' },
  test: (value) => typeof value === 'string' && /^\+[1-9]\d{6,14}$/.test(value),
} as const satisfies Format;
