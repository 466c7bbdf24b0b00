import type { JsonMap } from '../../document/document.ts';
import { isToken } from '../http-token.ts';
import { challengeOf } from './challenges.ts';
import { asKey } from './in-openapi.ts';
import type { OfForeign, SchemeKind } from './kind.ts';
import { looksLikeToken, tokenFlaw, tokenMisses } from './token.ts';

/** What another format has a word for and this language has not: it is stated, so that nobody is let in without it, and refused by name. */
export const unverifiable = {
  word: 'unverifiable',
  meaning: 'What another format says of a scheme; there are no means for it here.',
  members: {
    says: {
      form: { type: 'object', description: 'What the other format says of it, word for word.', additionalProperties: {} },
    },
  },
  hasStandardForm: true,
  problems: () => [],
  challenge: ({ realm, prefix }) => challengeOf(prefix ?? 'Unverifiable', [['realm', realm]]),
  takes: (text) => !looksLikeToken(text),
  presented: (text) => ({ text }),
  invented: 'ninefold-verify',
  formFlaw: tokenFlaw,
  nearMisses: tokenMisses,
  toOpenApi: (scheme) => {
    const { says } = scheme.own;
    return isStatedMap(says) ? { written: says, told: [], isKindTold: false, takesScopes: false } : asKey(scheme, false);
  },
  isInOpenApi: () => false,
  ofForeign,
  toAsyncApi: () => undefined,
  compare: () => 'same',
} as const satisfies SchemeKind;

/** Types that other kinds read; of one that says too little to be read, nothing is known. */
const known: ReadonlySet<string> = new Set(['apiKey', 'httpApiKey', 'oauth2', 'openIdConnect', 'basic', 'userPassword']);

function ofForeign(scheme: JsonMap): OfForeign | undefined {
  if (typeof scheme.type !== 'string' || known.has(scheme.type)) return undefined;
  if (scheme.type === 'http' && /^(?:bearer|basic)$/i.test(String(scheme.scheme))) return undefined;
  const { description: _prose, ...says } = scheme;
  const isHttp = scheme.type === 'http' && typeof scheme.scheme === 'string' && isToken(scheme.scheme);
  const carried = isHttp ? { header: 'Authorization', prefix: String(scheme.scheme) } : {};
  return { stated: { type: 'unverifiable', ...carried, says }, read: Object.keys(says) };
}

function isStatedMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
