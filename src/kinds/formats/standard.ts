import type { Draw } from '../generators/kind.ts';

/** A format of JSON Schema 2020-12 (validation, section 7.3) or of OpenAPI's registry that is none of ours as well; how it is tested, ajv-formats knows. */
export interface StandardFormat {
  readonly word: string;
  /** What a value of it is, so that "must be …" reads well. */
  readonly meaning: string;
  /** A value of it. */
  readonly example: string;
  /** What surely is a value of it; narrower than the standards, so that nothing doubtful passes for a sample. */
  readonly sure: RegExp;
  /** Texts that are nearly of it, each wrong in a way of its own, and that everybody who looks at them refuses. */
  readonly nearMisses?: readonly string[];
  /** Whether a value tells one thing from all others. */
  readonly isTelling?: true;
  make(chance: FormatDraw): string;
}

/** What values of a format are made of. */
export interface FormatDraw extends Draw {
  /** A whole number from 0 up to, not including, a bound. */
  below(bound: number): number;
}

export const standardFormats: readonly StandardFormat[] = [
  {
    word: 'date',
    meaning: 'a date such as 2026-01-31',
    example: '2030-01-01',
    sure: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/,
    nearMisses: ['2026-02-30', '2026-13-01', '2026-1-5', '20260131', '2026-01-31T00:00:00Z'],
    make: (chance) => instant(chance).replace(/-\d\dT.*/, `-${String(1 + chance.below(28)).padStart(2, '0')}`),
  },
  {
    word: 'time',
    meaning: 'a time such as 12:00:00Z',
    example: '09:00:00Z',
    sure: /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/,
    nearMisses: ['25:00:00Z', '12:60:00Z', '12:00:00', '12:00Z'],
    make: (chance) => instant(chance).replace(/^.*T|\.000/g, ''),
  },
  {
    word: 'duration',
    meaning: 'a duration such as P1DT2H',
    example: 'P1D',
    sure: /^P(?:\d+W|(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/,
    nearMisses: ['one day', 'P', '1D', 'P1H'],
    make: (chance) => `P${1 + chance.below(28)}D`,
  },
  {
    word: 'email',
    meaning: 'a mail address',
    example: 'somebody@example.com',
    sure: /^[A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/,
    nearMisses: ['nobody at nowhere', 'nobody', 'nobody@', '@example.com'],
    isTelling: true,
    make: (chance) => `somebody-${lettersOf(chance, 4)}@example.com`,
  },
  {
    word: 'hostname',
    meaning: 'a host name',
    example: 'example.com',
    sure: /^[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?){0,4}$/i,
    nearMisses: ['-bad-.example', 'no host', 'https://example.com'],
    make: (chance) => `${lettersOf(chance, 6)}.example.com`,
  },
  {
    word: 'ipv4',
    meaning: 'an IPv4 address',
    example: '192.0.2.1',
    sure: /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/,
    nearMisses: ['256.1.1.1', '192.0.2', '192.0.2.1.1', '2001:db8::1'],
    make: (chance) => `192.0.2.${1 + chance.below(254)}`,
  },
  {
    word: 'ipv6',
    meaning: 'an IPv6 address',
    example: '2001:db8::1',
    sure: /^(?:[\da-f]{1,4}:){7}[\da-f]{1,4}$|^2001:db8::[\da-f]{1,4}$/i,
    nearMisses: ['fffff::1', '1::2::3', '192.0.2.1'],
    make: (chance) => `2001:db8::${(1 + chance.below(65_534)).toString(16)}`,
  },
  {
    word: 'uri',
    meaning: 'a URI with its scheme',
    example: 'https://example.com/',
    sure: /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(?::\d+)?(?:\/[\w./~%-]*)?(?:\?[\w=&%.-]*)?(?:#[\w-]*)?$/i,
    nearMisses: ['not a uri', '/relative', 'example.com'],
    isTelling: true,
    make: (chance) => `https://example.com/${lettersOf(chance, 6)}`,
  },
  {
    word: 'uri-reference',
    meaning: 'a URI or a reference to one',
    example: '/example',
    sure: /^(?:[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(?::\d+)?)?(?:\/[\w./~%-]*)?(?:\?[\w=&%.-]*)?(?:#[\w-]*)?$/i,
    make: (chance) => `/${lettersOf(chance, 6)}`,
  },
  {
    word: 'uri-template',
    meaning: 'a URI template',
    example: '/example/{id}',
    sure: /^\/[\w./{}-]*$/,
    make: (chance) => `/${lettersOf(chance, 6)}/{id}`,
  },
  {
    word: 'uuid',
    meaning: 'a UUID',
    example: '3f2b8f4e-6c1d-4a57-9f0e-1b2c3d4e5f60',
    sure: /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i,
    nearMisses: [
      '3f2b8f4e-6c1d-4a57-9f0e-1b2c3d4e5f6g',
      '3f2b8f4e6c1d4a579f0e1b2c3d4e5f60',
      '3f2b8f4e-6c1d-4a57-9f0e-1b2c3d4e5f6',
    ],
    isTelling: true,
    make: (chance) => chance.uuid(),
  },
  {
    word: 'json-pointer',
    meaning: 'a JSON Pointer',
    example: '/example',
    sure: /^(?:\/[\w-]*)*$/,
    make: (chance) => `/${lettersOf(chance, 6)}`,
  },
  {
    word: 'relative-json-pointer',
    meaning: 'a relative JSON Pointer',
    example: '0',
    sure: /^(?:0|[1-9]\d*)(?:\/[\w-]*)*$/,
    make: () => '0',
  },
  {
    word: 'regex',
    meaning: 'a regular expression',
    example: 'example',
    sure: /^[\w-]*$/,
    make: (chance) => lettersOf(chance, 6),
  },
  {
    word: 'byte',
    meaning: 'bytes in base64',
    example: 'ZXhhbXBsZQ==',
    sure: /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/,
    nearMisses: ['not bytes', '****'],
    make: (chance) => Buffer.from(lettersOf(chance, 7)).toString('base64'),
  },
  {
    word: 'url',
    meaning: 'an address on the web',
    example: 'https://example.com/',
    sure: /^https:\/\/[a-z-]+\.example\.com\/$|^https:\/\/example\.com\/$/,
    nearMisses: ['nowhere at all'],
    make: (chance) => `https://${lettersOf(chance, 6)}.example.com/`,
  },
];

/** Words by which descriptions call a date and time that are none of the standard's: 60 makers of 2,639 descriptions have them. Whatever stands there is one. */
const momentWords = ['datetime', 'dateTime', 'date_time', 'iso-datetime', 'google-datetime'];
const moments = momentWords.map(
  (word): StandardFormat => ({
    word,
    meaning: 'a date and time',
    example: '2026-01-15T09:30:00Z',
    sure: /^/,
    make: instant,
  }),
);

const byWord: ReadonlyMap<unknown, StandardFormat> = new Map(
  [...standardFormats, ...moments].map((format) => [format.word, format]),
);

/** The format of the standard of that name; nothing for one of this language, and for what is no name. */
export function standardFormatNamed(word: unknown): StandardFormat | undefined {
  return byWord.get(word);
}

/** Seconds since 1970 of a moment in the year before samples are of. */
export function secondsOf(chance: FormatDraw): number {
  return Math.floor(chance.nowMs / 1000) - chance.below(31_536_000);
}

function instant(chance: FormatDraw): string {
  return new Date(secondsOf(chance) * 1000).toISOString();
}

/** As many small letters; none that looks like a digit. */
export function lettersOf(chance: FormatDraw, length: number): string {
  return Array.from({ length }, () => 'abcdefghijkmnpqrstuvwxyz'.charAt(chance.below(24))).join('');
}
