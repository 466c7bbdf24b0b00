import type { JsonMap } from '../../document/document.ts';
import { compareBy, together } from '../comparison.ts';
import { bearerChallenge } from './challenges.ts';
import { asyncApiFlows, openApiFlows } from './flows.ts';
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
