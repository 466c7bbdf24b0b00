import type { JsonMap } from '../../../document/document.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import type { Scheme } from '../../../parts/authentication.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import { DefinitionNames } from '../../json-schema/definition-names.ts';
import type { Prose } from '../../prose.ts';

/** The security schemes of a service, and which of them a caller may show. */
export interface Security {
  readonly schemes: JsonMap;
  /** References to those that are accepted, each alone. */
  readonly accepted: readonly JsonMap[];
}

export function writeSecurity(spec: Spec, prose: Prose): Security {
  const names = new DefinitionNames();
  const schemes: OpenMap = newMap();
  const accepted: JsonMap[] = [];
  for (const [name, scheme] of entriesOf(spec.authentication.schemes)) {
    const written = schemeOf(scheme);
    if (!written) continue;
    const key = names.claim(name);
    const description = prose(scheme.at).join('\n\n');
    schemes[key] = { ...written, ...(description !== '' && { description }), ...(key !== name && { 'x-ninefold-name': name }) };
    const { accept } = spec.authentication;
    if (!accept || accept.includes(name)) accepted.push({ $ref: `#/components/securitySchemes/${key}` });
  }
  return { schemes, accepted };
}

/** A scheme in AsyncAPI's words; nothing for one that has none there, or of which too much is open. */
function schemeOf(scheme: Scheme): JsonMap | undefined {
  const carrier = statedValue(scheme.carrier);
  const isBearer = carrier?.toLowerCase() === 'authorization' && scheme.prefix?.toLowerCase() === 'bearer';
  switch (scheme.type) {
    case 'basic':
      return { type: 'http', scheme: 'basic' };
    case 'oauth2': {
      const flows = flowsOf(scheme);
      return Object.keys(flows).length > 0 ? { type: 'oauth2', flows } : { type: 'http', scheme: 'bearer' };
    }
    case 'jwt':
      if (isBearer || (carrier?.toLowerCase() === 'authorization' && scheme.prefix === undefined))
        return { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
      return carrier === undefined ? undefined : { type: 'httpApiKey', in: scheme.in, name: carrier };
    case 'api_key':
      if (carrier === undefined) return undefined;
      return isBearer ? { type: 'http', scheme: 'bearer' } : { type: 'httpApiKey', in: scheme.in, name: carrier };
    default:
      return undefined;
  }
}

/** Every flow of OAuth 2.0 of which enough is stated, with the scopes that can be asked for in each of them. */
function flowsOf({ flows, scopes }: Scheme): JsonMap {
  const out: OpenMap = newMap();
  for (const [name, urls] of Object.entries(flows)) {
    const flow = camelCase(name);
    const words = Object.entries(urls).flatMap(([word, url]) => {
      const known = urlWords[camelCase(word)];
      return known === undefined ? [] : [[known, url] as const];
    });
    const has = new Set(words.map(([word]) => word));
    if (neededUrls[flow]?.every((word) => has.has(word)))
      out[flow] = { ...Object.fromEntries(words), availableScopes: { ...scopes } };
  }
  return out;
}

const urlWords: Readonly<Record<string, string>> = {
  ...{ authorizationUrl: 'authorizationUrl', authorization: 'authorizationUrl', authorize: 'authorizationUrl' },
  ...{ tokenUrl: 'tokenUrl', token: 'tokenUrl', refreshUrl: 'refreshUrl', refresh: 'refreshUrl' },
};

/** The flows that AsyncAPI knows, with what it asks of each. */
const neededUrls: Readonly<Record<string, readonly string[]>> = {
  implicit: ['authorizationUrl'],
  password: ['tokenUrl'],
  clientCredentials: ['tokenUrl'],
  authorizationCode: ['authorizationUrl', 'tokenUrl'],
};

function camelCase(word: string): string {
  return word.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
