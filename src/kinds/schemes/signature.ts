import { challengeOf, type SchemeKind } from './kind.ts';

/** A signature over the request. It can be stated; there are no means to verify one yet. */
export const signature: SchemeKind = {
  type: 'signature',
  meaning: 'A signature over the request.',
  challenge: ({ realm }) => challengeOf('Signature', [['realm', realm]]),
};
