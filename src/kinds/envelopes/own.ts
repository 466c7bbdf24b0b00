import type { EnvelopeKind } from './kind.ts';

/** Members of the author's own. */
export const own = {
  word: 'own-members',
  meaning: 'Members of one’s own, each with an expression over the event.',
  stated: {
    form: {
      type: 'object',
      additionalProperties: {
        anyOf: [{ type: 'string', description: 'CEL: over event' }, { type: 'number' }, { type: 'boolean' }],
      },
    },
  },
  members: (written) => written,
} as const satisfies EnvelopeKind;
