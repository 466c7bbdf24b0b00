import type { PageStyle } from './kind.ts';

/** Pages that are told by how many rows stand before them. */
export const offset = {
  word: 'offset',
  meaning: 'a number of rows is passed over',
  tells: 'count',
  parameters: [
    {
      word: 'offset',
      stated: 'The parameter that takes how many rows to pass over.',
      isRequired: true,
      leads: 'both ways',
      schema: { type: 'integer', minimum: 0, default: 0 },
      description: 'How many to pass over.',
      nearMisses: ['many', -1],
      usualNames: ['offset', 'skip', 'startposition'],
    },
  ],
  count: {
    least: 0,
    skip: (value) => value,
    valueAt: (skip) => skip,
    following: (value, shown) => value + shown,
  },
  isSteady: false,
  recognise({ named, counts }) {
    // Of 1,340 descriptions 49 say so in other words: `start` beside `rows`, `startAt` beside `maxResults`, `first` beside `max`; 9 `startIndex` (94 lists).
    const own =
      named('offset') ?? counts(['start', 'startat', 'startfrom', 'startrow', 'startindex', 'recordindex', 'from', 'first']);
    return own === undefined ? undefined : { offset: own };
  },
} as const satisfies PageStyle;
