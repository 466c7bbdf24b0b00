import { type Asked, challengeOf, isInAuthorization, type SchemeKind } from './kind.ts';

/** A signed token (RFC 7519), as a rule a bearer token (RFC 6750). */
export const jwt: SchemeKind = {
  type: 'jwt',
  meaning: 'A token that its issuer has signed.',
  prefix: 'Bearer',
  proof: 'token',
  challenge: bearerChallenge,
};

/** RFC 6750 section 3: bare without a credential, `invalid_token` for one that is not good. */
export function bearerChallenge(asked: Asked): string {
  const error = asked.isBad ? [['error', 'invalid_token'] as const] : [];
  if (isInAuthorization(asked)) return challengeOf(asked.prefix ?? 'Bearer', [['realm', asked.realm], ...error]);
  return challengeOf('Bearer', [['realm', asked.realm], ['in', asked.in], ['name', asked.name], ...error]);
}
