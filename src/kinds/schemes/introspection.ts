import { compareBy } from '../comparison.ts';
import { durationMs } from '../measures.ts';
import type { Problem } from '../member.ts';
import { bearerChallenge } from './challenges.ts';
import { asHttpKey, asKey } from './in-openapi.ts';
import type { InOpenApi, PlacedScheme, SchemeFacts, SchemeKind } from './kind.ts';
import { ofText } from './near-misses.ts';
import { tokenMembers } from './token.ts';

const { issuer, audience, secret_env } = tokenMembers;

/** A token of which its authorization server says whether it is good (RFC 7662). */
export const introspection = {
  word: 'introspection',
  meaning: 'A token of which its authorization server is asked whether it is good.',
  members: {
    issuer,
    audience,
    secret_env,
    introspect: { form: { type: 'string', description: 'The address that is asked (RFC 7662).' } },
    client: { form: { type: 'string', description: 'Who asks; the environment variable of secret_env holds its secret.' } },
    cache: {
      form: {
        type: 'string',
        description: 'How long an answer is taken for true: 60s unless said, 10m at the most; 0s = it is asked each time.',
      },
    },
  },
  usualHeader: 'Authorization',
  prefix: 'Bearer',
  proof: { by: 'asking' },
  // What it looks like is a matter of its server (RFC 7662 section 1.1), so nothing of it is left to be said.
  hasStandardForm: true,
  hasStandardChallenge: true,
  problems,
  challenge: bearerChallenge,
  takes: (text) => /^[\x21-\x7e]+$/.test(text),
  presented: (text) => ({ text }),
  invented: 'ninefold-verify',
  formFlaw: () => ({ moot: 'what a token looks like is a matter of its server' }),
  nearMisses: (_facts, text) => ofText(text),
  toOpenApi,
  isInOpenApi: () => false,
  // What becomes of a bearer token, the documents of others do not say.
  ofForeign: () => undefined,
  toAsyncApi: (scheme) => (isBearer(scheme) ? { type: 'http', scheme: 'bearer' } : asHttpKey(scheme)),
  compare: (before, after) => compareBy(before.audience, after.audience, (inner, outer) => inner === outer),
} as const satisfies SchemeKind;

const cacheMostMs = 600_000;

/** How long an answer is taken for true, in milliseconds. */
export function introspectionCacheMs({ own: { cache } }: Pick<SchemeFacts, 'own'>): number {
  return Math.min((typeof cache === 'string' ? durationMs(cache) : undefined) ?? 60_000, cacheMostMs);
}

function problems({ name, own: { introspect, client, cache }, secretEnv }: SchemeFacts, words: readonly string[]): Problem[] {
  const code = 'authentication/introspection';
  const wrong = (message: string, remedy: string, ...at: string[]): Problem[] => [
    { code, message, remedy, at, onKey: at.length === 0 },
  ];
  const isAddress = typeof introspect === 'string' && /^https?:\/\//i.test(introspect) && URL.canParse(introspect);
  const cacheMs = typeof cache === 'string' ? durationMs(cache) : undefined;
  return [
    ...(words.includes('introspect')
      ? isAddress
        ? []
        : wrong('This is no address that can be asked.', 'Write `https://…`.', 'introspect')
      : wrong(`Nobody can be asked about tokens of \`${name}\`.`, 'Add `introspect: URL`.')),
    ...((client === undefined) === (secretEnv === undefined)
      ? []
      : wrong(`Who asks about tokens of \`${name}\` has a name and a secret, or neither.`, 'State `client` and `secret_env`.')),
    ...(words.includes('cache') && (cacheMs === undefined || cacheMs > cacheMostMs)
      ? wrong('An answer is taken for true for up to ten minutes.', 'Write `60s`, or another duration up to `10m`.', 'cache')
      : []),
  ];
}

function toOpenApi(scheme: PlacedScheme): InOpenApi {
  if (!isBearer(scheme)) return asKey(scheme, false);
  return { written: { type: 'http', scheme: 'bearer' }, told: [], isKindTold: false, takesScopes: false };
}

function isBearer({ carriedIn = 'Authorization', prefix = 'Bearer' }: PlacedScheme): boolean {
  return carriedIn.toLowerCase() === 'authorization' && prefix.toLowerCase() === 'bearer';
}
