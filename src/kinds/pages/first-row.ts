import type { PageStyle } from './kind.ts';

/** Pages that are told by which row is their first, counted from 1. */
export const firstRow = {
  word: 'first_row',
  meaning: 'a page begins with a row of this number, counted from 1',
  tells: 'count',
  parameters: [
    {
      word: 'first_row',
      stated: 'The parameter that takes the number of the first row.',
      isRequired: true,
      leads: 'both ways',
      schema: { type: 'integer', minimum: 1, default: 1 },
      description: 'The number of the first row, counted from 1.',
      nearMisses: ['many', 0],
      usualNames: [],
    },
  ],
  count: {
    least: 1,
    skip: (value) => value - 1,
    valueAt: (skip) => skip + 1,
    following: (value, shown) => value + shown,
  },
  isSteady: false,
  recognise({ counts, startsAtOne }) {
    // Of 967 descriptions those of seven makers have 23 such parameters, which all count from 1 where they say so.
    const own = counts(['offset', 'start', 'startat', 'startfrom', 'startindex', 'startrow', 'from']);
    return own !== undefined && startsAtOne(own) ? { first_row: own } : undefined;
  },
} as const satisfies PageStyle;
