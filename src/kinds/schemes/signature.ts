import { challengeOf } from './challenges.ts';
import { asKey } from './in-openapi.ts';
import type { SchemeKind } from './kind.ts';
import { looksLikeToken, tokenFlaw, tokenMisses } from './token.ts';

/** A signature over the request. It can be stated; there are no means to verify one yet. */
export const signature = {
  word: 'signature',
  meaning: 'A signature over the request.',
  members: {},
  hasStandardForm: false,
  problems: () => [],
  challenge: ({ realm }) => challengeOf('Signature', [['realm', realm]]),
  takes: (text) => !looksLikeToken(text),
  presented: (text) => ({ text }),
  invented: 'ninefold-verify',
  formFlaw: tokenFlaw,
  nearMisses: tokenMisses,
  toOpenApi: (scheme) => asKey(scheme, false),
  isInOpenApi: () => false,
  ofForeign: () => undefined,
  toAsyncApi: () => undefined,
  compare: () => 'same',
} as const satisfies SchemeKind;
