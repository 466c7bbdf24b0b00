import type { EnvelopeKind } from './kind.ts';

/** Nothing stands around a payload: it is sent as it is. */
export const bare = {
  word: 'none',
  meaning: 'Nothing: a payload is sent as it is.',
  stated: 'by none',
  members: () => undefined,
} as const satisfies EnvelopeKind;
