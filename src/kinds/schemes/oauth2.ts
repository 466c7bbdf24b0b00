import { bearerChallenge } from './jwt.ts';
import type { SchemeKind } from './kind.ts';

/** A token that one of the stated flows gives out (RFC 6749), verified as a JWT. */
export const oauth2: SchemeKind = {
  type: 'oauth2',
  meaning: 'A token that one of the stated flows gives out, verified as a JWT.',
  prefix: 'Bearer',
  proof: 'token',
  challenge: bearerChallenge,
};
