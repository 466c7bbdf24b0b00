import type { Format } from './kind.ts';

/** Seconds since 1970-01-01T00:00:00Z (POSIX), within what a date can hold (ECMA-262 section 21.4.1.1); fractions where the type allows them. */
export const unixTime = {
  word: 'unix-time',
  type: 'number',
  meaning: 'seconds since 1970',
  example: 1_767_225_600,
  schema: { minimum: -8_640_000_000_000, maximum: 8_640_000_000_000 },
  time: {
    readMs: (value) => (typeof value === 'number' ? value * 1000 : undefined),
    write: (ms) => Math.floor(ms / 1000),
  },
  test: (value) => typeof value === 'number' && Math.abs(value) <= 8_640_000_000_000,
} as const satisfies Format;
