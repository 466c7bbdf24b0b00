import type { Format } from './kind.ts';

/** A currency's three letters (ISO 4217), in upper case; those of the past are known too, for old amounts. */
export const currency = {
  word: 'currency',
  type: 'string',
  meaning: 'an ISO 4217 currency code',
  example: 'EUR',
  nearMisses: ['ZZZ', 'eur', 'EURO'],
  schema: { pattern: '^[A-Z]{3}$' },
  test: (value) => {
    known ??= new Set(Intl.supportedValuesOf('currency'));
    return typeof value === 'string' && known.has(value);
  },
} as const satisfies Format;

let known: ReadonlySet<string> | undefined;
