import type { Format } from './kind.ts';

/** A ULID (github.com/ulid/spec): 26 characters of Crockford's base 32, 48 bits of time first; case does not count. */
export const ulid = {
  word: 'ulid',
  type: 'string',
  meaning: 'a ULID',
  example: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  nearMisses: ['01ARZ3NDEKTSV4RRFFQ69G5FA', '01ARZ3NDEKTSV4RRFFQ69G5FAU', '81ARZ3NDEKTSV4RRFFQ69G5FAV'],
  isTelling: true,
  schema: { pattern: '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$' },
  test: (value) => typeof value === 'string' && /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i.test(value),
} as const satisfies Format;
