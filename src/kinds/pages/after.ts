import type { PageStyle } from './kind.ts';

/** Pages that are told by the identifier of the last row that was shown, or of the first one to go back. */
export const afterRow = {
  word: 'after',
  meaning: 'the identifier of a row leads to the rows after it, or before it',
  tells: 'identifier',
  parameters: [
    {
      word: 'after',
      stated: 'The parameter that takes the identifier to go on after.',
      isRequired: true,
      leads: 'forward',
      schema: { type: 'string' },
      description: 'The identifier after which to go on.',
      nearMisses: [],
      usualNames: ['startingafter', 'after'],
    },
    {
      word: 'before',
      stated: 'The parameter that takes the identifier to go back before.',
      isRequired: false,
      leads: 'back',
      schema: { type: 'string' },
      description: 'The identifier before which to go back.',
      nearMisses: [],
      usualNames: ['endingbefore', 'before'],
    },
  ],
  isSteady: true,
  recognise({ named, hasNext, takesOpaque }) {
    const cursor = named('cursor');
    // What is called a cursor and cannot hold one is an identifier.
    if (cursor !== undefined && (hasNext || named('offset') === undefined))
      return takesOpaque(cursor) ? undefined : { after: cursor };
    // Who counts as well is asked by its count, which every client knows how to go on with.
    const own = hasNext || named('offset') !== undefined ? undefined : named('after');
    const before = named('before');
    return own === undefined ? undefined : { after: own, ...(before !== undefined && { before }) };
  },
} as const satisfies PageStyle;
