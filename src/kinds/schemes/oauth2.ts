import type { Json, JsonMap } from '../../document/document.ts';
import { isMap, newMap } from '../../document/values.ts';
import { compareBy, together } from '../comparison.ts';
import { bearerChallenge } from './challenges.ts';
import { asBearer } from './in-openapi.ts';
import type { InOpenApi, OfForeign, PlacedScheme, SchemeFacts, SchemeKind } from './kind.ts';
import { compareTokens, looksLikeToken, tokenFlaw, tokenMembers, tokenMisses } from './token.ts';

/** A token that one of the stated flows gives out (RFC 6749), verified as a JWT. */
export const oauth2 = {
  word: 'oauth2',
  meaning: 'A token that one of the stated flows gives out, verified as a JWT.',
  members: {
    ...tokenMembers,
    open_id: {
      form: { type: 'string', description: 'Where an OpenID provider says of itself what it does (OpenID Connect Discovery).' },
    },
    flows: {
      form: {
        type: 'object',
        description: 'The flows that give tokens out, each with its addresses.',
        additionalProperties: {
          type: 'object',
          additionalProperties: { anyOf: [{ type: 'string' }, { type: 'object', additionalProperties: { type: 'string' } }] },
        },
      },
    },
  },
  usualHeader: 'Authorization',
  prefix: 'Bearer',
  proof: { by: 'token' },
  hasStandardForm: true,
  hasStandardChallenge: true,
  hasFlows: true,
  problems: () => [],
  challenge: bearerChallenge,
  takes: looksLikeToken,
  presented: (text) => ({ text }),
  invented: 'ninefold-verify',
  formFlaw: tokenFlaw,
  nearMisses: tokenMisses,
  toOpenApi,
  isInOpenApi: ({ type }) => type === 'oauth2' || type === 'openIdConnect',
  ofForeign,
  toAsyncApi: ({ flows, scopes }): JsonMap => {
    const written = asyncApiFlows(flows, scopes);
    return written ? { type: 'oauth2', flows: written } : { type: 'http', scheme: 'bearer' };
  },
  compare: (before, after) => {
    const isWithin = (inner: object, outer: object) => Object.keys(inner).every((name) => Object.hasOwn(outer, name));
    return together([
      compareTokens(before, after),
      compareBy<SchemeFacts['flows']>(before.flows, after.flows, isWithin),
      compareBy<SchemeFacts['scopes']>(before.scopes, after.scopes, isWithin),
    ]);
  },
} as const satisfies SchemeKind;

function ofForeign({ type, openIdConnectUrl }: JsonMap): OfForeign | undefined {
  if (type === 'oauth2') return { stated: { type: 'oauth2' }, read: ['type'] };
  if (type !== 'openIdConnect' || typeof openIdConnectUrl !== 'string') return undefined;
  return { stated: { type: 'oauth2', open_id: openIdConnectUrl }, read: ['type', 'openIdConnectUrl'] };
}

function toOpenApi(scheme: PlacedScheme): InOpenApi {
  const { open_id: openIdConnectUrl } = scheme.own;
  if (typeof openIdConnectUrl === 'string')
    return { written: { type: 'openIdConnect', openIdConnectUrl }, told: [], isKindTold: false, takesScopes: true };
  const flows = openApiFlows(scheme.flows, scheme.scopes);
  return flows ? { written: { type: 'oauth2', flows }, told: [], isKindTold: false, takesScopes: true } : asBearer(scheme);
}

/** OAuth 2.0's flows as OpenAPI writes them; nothing where there is none, or one lacks an address that OpenAPI asks for. */
export function openApiFlows(flows: JsonMap, scopes: JsonMap): JsonMap | undefined {
  const out = newMap();
  for (const [name, stated] of Object.entries(flows)) {
    const known = neededWords.get(camelCase(name));
    if (!known || !isMap(stated)) return undefined;
    const addresses = newMap();
    for (const [word, value] of Object.entries(stated)) if (addressWords.has(camelCase(word))) addresses[camelCase(word)] = value;
    if (!known.every((word) => typeof addresses[word] === 'string')) return undefined;
    out[camelCase(name)] = { ...addresses, scopes: { ...scopes } };
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

/** The flows, and the scopes of all of them, as this language writes them. */
export function statedFlows(flows: JsonMap): { readonly flows: JsonMap; readonly scopes: JsonMap } {
  const out = newMap();
  const scopes = newMap();
  for (const [name, flow] of Object.entries(flows)) {
    const addresses = newMap();
    for (const [word, value] of Object.entries(isMap(flow) ? flow : {})) {
      if (word === 'scopes' && isMap(value)) Object.assign(scopes, value);
      else if (addressWords.has(word)) addresses[snakeCase(word)] = value;
    }
    out[snakeCase(name)] = addresses;
  }
  return { flows: out, scopes };
}

/** Every flow as AsyncAPI writes it of which enough is stated, with the scopes that can be asked for in each of them. */
function asyncApiFlows(flows: JsonMap, scopes: JsonMap): JsonMap | undefined {
  const out = newMap();
  for (const [name, stated] of Object.entries(flows)) {
    const needed = neededWords.get(camelCase(name));
    const addresses = newMap();
    for (const [word, url] of Object.entries(isMap(stated) ? stated : {})) {
      const known = shortWords.get(camelCase(word)) ?? camelCase(word);
      if (addressWords.has(known)) addresses[known] = url;
    }
    if (needed?.every((word) => addresses[word] !== undefined))
      out[camelCase(name)] = { ...addresses, availableScopes: { ...scopes } };
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

const shortWords: ReadonlyMap<string, string> = new Map([
  ['authorization', 'authorizationUrl'],
  ['authorize', 'authorizationUrl'],
  ['token', 'tokenUrl'],
  ['refresh', 'refreshUrl'],
]);

const neededWords: ReadonlyMap<string, readonly string[]> = new Map([
  ['authorizationCode', ['authorizationUrl', 'tokenUrl']],
  ['clientCredentials', ['tokenUrl']],
  ['implicit', ['authorizationUrl']],
  ['password', ['tokenUrl']],
]);
const addressWords: ReadonlySet<string> = new Set(['authorizationUrl', 'tokenUrl', 'refreshUrl']);

function camelCase(word: string): string {
  return word.replace(/[_-](\w)/g, (_, letter: string) => letter.toUpperCase());
}

function snakeCase(word: string): Json & string {
  return word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
