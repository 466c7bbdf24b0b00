import type { PageStyle } from './kind.ts';

/** Pages that are told by an opaque text, which holds where the one before ended and is bound to its query. */
export const cursor = {
  word: 'cursor',
  meaning: 'an opaque text leads to the page after, or the one before, of this very query',
  tells: 'token',
  parameters: [
    {
      word: 'cursor',
      stated: 'The parameter that takes a cursor.',
      isRequired: true,
      leads: 'both ways',
      schema: { type: 'string' },
      description: 'Where to go on: what the page before gave as the next one.',
      nearMisses: ['nf-no-cursor'],
      usualNames: [
        'cursor',
        'marker',
        'iterator',
        'pagetoken',
        'nexttoken',
        'continuationtoken',
        'pagecursor',
        'startcursor',
        'nextcursor',
        'continue',
        'next',
      ],
    },
  ],
  isSteady: true,
  recognise({ named, hasNext, takesOpaque, takesText, leads }) {
    const own = named('cursor');
    if (own !== undefined && (hasNext || named('offset') === undefined)) return takesOpaque(own) ? { cursor: own } : undefined;
    if (!hasNext) return undefined;
    // Whatever an answer gives for the next page is passed on as it is.
    const after = named('after');
    if (after !== undefined) return { cursor: after };
    const page = named('offset') === undefined ? named('page') : undefined;
    if (page !== undefined && takesText(page)) return { cursor: page };
    // Elsewhere a token is a credential.
    const token = leads(['token']);
    return token === undefined ? undefined : { cursor: token };
  },
} as const satisfies PageStyle;
