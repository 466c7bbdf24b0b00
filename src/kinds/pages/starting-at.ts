import type { PageStyle } from './kind.ts';

/** Pages that are told by the identifier of their first row. */
export const startingAt = {
  word: 'starting_at',
  meaning: 'the identifier of a row leads to the page that begins with it',
  tells: 'identifier',
  isFirst: true,
  parameters: [
    {
      word: 'starting_at',
      stated: 'The parameter that takes the identifier to begin with.',
      isRequired: true,
      leads: 'forward',
      schema: { type: 'string' },
      description: 'The identifier with which to begin.',
      nearMisses: [],
      usualNames: ['from', 'startingat', 'startat'],
    },
  ],
  isSteady: true,
  recognise({ named, hasNext, takesText }) {
    const own = named('starting_at');
    // Beside another way to ask for a page, and where no answer leads to a next one, it narrows what is listed.
    if (own === undefined || !hasNext || !takesText(own)) return undefined;
    return ['cursor', 'after', 'offset', 'page'].some((word) => named(word) !== undefined) ? undefined : { starting_at: own };
  },
} as const satisfies PageStyle;
