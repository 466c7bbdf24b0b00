import type { Problem } from '../member.ts';
import { bearerChallenge } from './challenges.ts';
import { asBearer, asHttpKey } from './in-openapi.ts';
import type { PlacedScheme, SchemeFacts, SchemeKind } from './kind.ts';
import { compareTokens, looksLikeToken, tokenFlaw, tokenMembers, tokenMisses } from './token.ts';

/** A signed token (RFC 7519), as a rule a bearer token (RFC 6750). */
export const jwt = {
  word: 'jwt',
  meaning: 'A token that its issuer has signed.',
  members: tokenMembers,
  usualHeader: 'Authorization',
  prefix: 'Bearer',
  proof: { by: 'token' },
  hasStandardForm: true,
  hasStandardChallenge: true,
  problems,
  challenge: bearerChallenge,
  takes: looksLikeToken,
  presented: (text) => ({ text }),
  invented: 'ninefold-verify',
  formFlaw: tokenFlaw,
  nearMisses: tokenMisses,
  toOpenApi: asBearer,
  isInOpenApi: ({ type, scheme }) => type === 'http' && scheme !== 'basic',
  // What a bearer token of others has inside, their documents do not say.
  ofForeign: () => undefined,
  toAsyncApi: (scheme) => (isBearer(scheme) ? { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } : asHttpKey(scheme)),
  compare: compareTokens,
} as const satisfies SchemeKind;

function problems({ name }: SchemeFacts, words: readonly string[]): Problem[] {
  const code = 'authentication/unverifiable-token';
  const wrong = (message: string, remedy: string): Problem => ({ code, message, remedy, at: [], onKey: true });
  const hasKeys = words.includes('jwks') || words.includes('secret_env');
  return [
    ...(words.includes('algorithms')
      ? []
      : [wrong(`Nothing says how tokens of \`${name}\` are signed.`, 'Add `algorithms: [ES256]`.')]),
    ...(hasKeys
      ? []
      : [wrong(`There is no key to verify tokens of \`${name}\` with.`, 'Add `jwks: URL` or `secret_env: NAME`.')]),
  ];
}

function isBearer({ carriedIn, prefix = 'Bearer' }: PlacedScheme): boolean {
  return carriedIn?.toLowerCase() === 'authorization' && prefix.toLowerCase() === 'bearer';
}
