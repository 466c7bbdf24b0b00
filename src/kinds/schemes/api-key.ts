import { readTemplate } from '../generators/template.ts';
import { isToken } from '../http-token.ts';
import { challengeOf, isInAuthorization } from './challenges.ts';
import { asHttpKey, asKey } from './in-openapi.ts';
import type { ChallengeSubject, OfForeign, PlacedScheme, SchemeFacts, SchemeKind } from './kind.ts';
import { ofKey } from './near-misses.ts';
import { looksLikeToken } from './token.ts';

/**
 * A key that was given out. HTTP registers no challenge for one: in `Authorization` it is named by its own prefix, elsewhere
 * `ApiKey realm="…", in="header", name="X-API-Key"` says where it stands.
 */
export const apiKey = {
  word: 'api_key',
  meaning: 'A key that was given out, in a header, query parameter or cookie.',
  members: { generate: { form: { type: 'string', description: 'What a key looks like: pk_live_{random:32}.' } } },
  proof: { by: 'key' },
  hasStandardForm: false,
  problems: () => [],
  challenge,
  takes: (text) => !looksLikeToken(text),
  presented: (text) => ({ text }),
  invented: 'ninefold-verify',
  formFlaw,
  nearMisses: ofKey,
  toOpenApi: (scheme) => asKey(scheme, true),
  isInOpenApi: ({ type }) => type === 'apiKey',
  ofForeign,
  toAsyncApi: (scheme) => (isBearer(scheme) ? { type: 'http', scheme: 'bearer' } : asHttpKey(scheme)),
  // A key that was given out holds whatever keys look like from now on.
  compare: () => 'same',
} as const satisfies SchemeKind;

function challenge(asked: ChallengeSubject): string {
  const error = asked.isBad ? [['error', 'invalid_key'] as const] : [];
  if (isInAuthorization(asked) && asked.prefix !== undefined && isToken(asked.prefix)) {
    return challengeOf(asked.prefix, [['realm', asked.realm], ...error]);
  }
  return challengeOf('ApiKey', [['realm', asked.realm], ['in', asked.in], ['name', asked.name], ...error]);
}

/** A key may have been brought along by its owner, in whatever form. */
function formFlaw({ generate }: SchemeFacts, text: string) {
  const read = generate === undefined ? undefined : readTemplate(generate);
  const fits = read && 'template' in read && new RegExp(read.template.pattern, 'u').test(text);
  return fits ? undefined : { moot: 'the key that was given is not of that form; somebody may have brought it along' };
}

function isBearer({ carriedIn, prefix }: PlacedScheme): boolean {
  return carriedIn?.toLowerCase() === 'authorization' && prefix?.toLowerCase() === 'bearer';
}

/** A bearer token that says nothing of its inside is carried like a key. */
function ofForeign({
  type,
  in: place,
  name,
  scheme,
  bearerFormat,
}: Parameters<SchemeKind['ofForeign']>[0]): OfForeign | undefined {
  const format = typeof bearerFormat === 'string' || typeof bearerFormat === 'number' ? String(bearerFormat) : undefined;
  if (type === 'http' && /^bearer$/i.test(String(scheme))) {
    const stated = { type: 'api_key', header: 'Authorization', prefix: 'Bearer', ...(format !== undefined && { format }) };
    return { stated, read: ['type', 'scheme', ...(format === undefined ? [] : ['bearerFormat'])] };
  }
  if (type !== 'apiKey' && type !== 'httpApiKey') return undefined;
  if ((typeof name !== 'string' && typeof name !== 'number') || (place !== 'header' && place !== 'query' && place !== 'cookie'))
    return undefined;
  return { stated: { type: 'api_key', [place]: String(name) }, read: ['type', 'in', 'name'] };
}
