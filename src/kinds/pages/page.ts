import type { PageStyle } from './kind.ts';

/** Pages that are counted from 1. */
export const page = {
  word: 'page',
  meaning: 'pages are counted from 1',
  tells: 'count',
  parameters: [
    {
      word: 'page',
      stated: 'The parameter that takes which page, counted from 1.',
      isRequired: true,
      leads: 'both ways',
      schema: { type: 'integer', minimum: 1, default: 1 },
      description: 'Which page, counted from 1.',
      nearMisses: ['many', -1],
      usualNames: ['page', 'pagenumber', 'pageno', 'currentpage'],
    },
  ],
  count: {
    least: 1,
    skip: (value, size) => (value - 1) * size,
    valueAt: (skip, size) => Math.floor(skip / size) + 1,
    following: (value) => value + 1,
  },
  isSteady: false,
  recognise({ named, startsAtNought }) {
    const own = named('page');
    return own === undefined || startsAtNought(own) ? undefined : { page: own };
  },
} as const satisfies PageStyle;
