import type { PageStyle } from './kind.ts';

/** Pages that are counted from 0. */
export const pageFromZero = {
  word: 'page_from_zero',
  meaning: 'pages are counted from 0',
  tells: 'count',
  parameters: [
    {
      word: 'page_number',
      stated: 'The parameter that takes which page.',
      isRequired: true,
      leads: 'both ways',
      schema: { type: 'integer', minimum: 0, default: 0 },
      description: 'Which page, counted from 0.',
      nearMisses: ['many', -1],
      usualNames: ['page', 'pagenumber', 'pageno'],
    },
  ],
  count: {
    least: 0,
    skip: (value, size) => value * size,
    valueAt: (skip, size) => Math.floor(skip / size),
    following: (value) => value + 1,
  },
  isSteady: false,
  recognise({ named, startsAtNought }) {
    const own = named('page');
    return own !== undefined && startsAtNought(own) ? { page_number: own } : undefined;
  },
} as const satisfies PageStyle;
