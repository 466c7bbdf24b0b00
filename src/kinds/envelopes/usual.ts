import type { EnvelopeKind } from './kind.ts';

/** The envelope of a document that states none. */
export const usual = {
  word: 'usual',
  meaning: 'The identifier, kind and time of the event, and its payload as `data`.',
  stated: 'unwritten',
  members: () => ({ id: 'event.id', type: 'event.kind', timestamp: 'event.at', data: 'event.payload' }),
} as const satisfies EnvelopeKind;
