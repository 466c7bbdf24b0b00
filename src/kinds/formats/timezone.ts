import type { Format } from './kind.ts';

/** A time zone's name in the IANA database, `UTC` among them; older names too, offsets not. Case does not count (RFC 6557). */
export const timezone = {
  word: 'timezone',
  type: 'string',
  meaning: 'an IANA time zone name, such as Europe/Berlin',
  example: 'Europe/Berlin',
  nearMisses: ['Europe/Nowhere', '+02:00'],
  schema: { pattern: '^[A-Za-z][\\w+/-]{0,63}$' },
  test: (value) => {
    if (typeof value !== 'string' || !/^[A-Za-z][\w+/-]{0,63}$/.test(value)) return false;
    known ??= new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);
    return known.has(value) || isAlias(value);
  },
} as const satisfies Format;

let known: ReadonlySet<string> | undefined;

function isAlias(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
