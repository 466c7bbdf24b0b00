import type { Generator } from './kind.ts';

/** `{number:6}`: one more than the one before, from 1, of at least that many digits; none is left out. */
export const number = {
  word: 'number',
  meaning: 'The next number, counted from 1, of at least that many digits.',
  takesLength: 'optional',
  counts: true,
  mixesCases: false,
  make: (draw, length) => String(draw.count?.() ?? 1).padStart(length, '0'),
  pattern: (length) => (length > 1 ? `(?:[0-9]{${length}}|[1-9][0-9]{${length},})` : '[1-9][0-9]*'),
} as const satisfies Generator;
