import type { Format } from './kind.ts';

/** A country's two letters (ISO 3166-1 alpha-2), in upper case; and `XK`, which Kosovo uses. */
export const country = {
  word: 'country',
  type: 'string',
  meaning: 'an ISO 3166-1 country code of two letters',
  example: 'DE',
  nearMisses: ['ZZ', 'de', 'DEU', 'Germany'],
  schema: { pattern: '^[A-Z]{2}$' },
  test: (value) => {
    known ??= listCountries();
    return typeof value === 'string' && known.has(value);
  },
} as const satisfies Format;

let known: ReadonlySet<string> | undefined;

/** What CLDR calls a region of two letters and ISO 3166-1 does not assign: reserved codes, unions, and codes for tests. */
const notCountries = new Set('AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ'.split(' '));

function listCountries(): ReadonlySet<string> {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  return new Set(codes.filter((code) => names.of(code) !== undefined && !notCountries.has(code) && isCurrent(code)));
}

/** A code of the past, like SU, has another one as its canonical form. */
function isCurrent(code: string): boolean {
  return new Intl.Locale(`und-${code}`).region === code;
}
