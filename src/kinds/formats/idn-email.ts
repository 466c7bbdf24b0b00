import type { Format } from './kind.ts';

/** A mail address that may hold characters outside ASCII (RFC 6531), at most 254 characters as mail systems take them. */
export const idnEmail = {
  word: 'idn-email',
  type: 'string',
  meaning: 'a mail address',
  example: 'jörg@example.com',
  covers: 'email',
  isPersonal: true,
  test: (value) => typeof value === 'string' && value.length <= 254 && ADDRESS.test(value),
} as const satisfies Format;

const ADDRESS = /^[^\s@"(),:;<>[\\\]]{1,64}@[^\s@"(),:;<>[\\\].]+(?:\.[^\s@"(),:;<>[\\\].]+)*$/u;
