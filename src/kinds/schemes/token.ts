import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Comparison } from '../comparison.ts';
import { compareBy, together } from '../comparison.ts';
import type { Members } from '../member.ts';
import type { Forge, FormFlaw, NearMiss, SchemeFacts } from './kind.ts';
import { breaking, ofKey, ofText } from './near-misses.ts';

/** What a document says of tokens that are signed. */
export const tokenMembers = {
  issuer: { form: { type: 'string', description: 'Who signs the tokens.' } },
  audience: { form: { type: 'string', description: 'For whom they are.' } },
  lifetime: {
    form: {
      type: 'string',
      description: 'How long a token holds at most, from when it was made: 1h. One that says no end is refused then.',
    },
  },
  expires: {
    form: { type: 'string', enum: ['required'], description: 'A token that says no end is refused, however far away it may be.' },
  },
  typ: {
    form: {
      type: 'string',
      description:
        'What tokens say that they are, so that one made for something else is none here: at+jwt (RFC 8725 section 3.11).',
    },
  },
  algorithms: {
    form: {
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
      description: 'The signature algorithms that are accepted.',
    },
  },
  jwks: { form: { type: 'string', description: 'The URL or file of the key set.' } },
  secret_env: { form: { type: 'string', description: 'The environment variable that holds the shared secret.' } },
} as const satisfies Members;

/** A JWT in its parts (RFC 7515 section 3.1). */
export interface Token {
  readonly header: Readonly<Record<string, Json>>;
  readonly claims: Readonly<Record<string, Json>>;
  readonly signature: string;
  /** Its header and claims as they are signed. */
  readonly signed: string;
}

/** Reads a JWT, without asking whether it is good; nothing where a text is none. */
export function readToken(text: string): Token | undefined {
  const [header = '', claims = '', signature, ...more] = text.split('.');
  if (signature === undefined || more.length > 0) return undefined;
  const [read, said] = [decoded(header), decoded(claims)];
  return read && said ? { header: read, claims: said, signature, signed: `${header}.${claims}` } : undefined;
}

/** Whether a text has the three parts of a token. */
export function looksLikeToken(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
}

/** Whether a token says of itself that it has ended (RFC 7519 section 4.1.4). */
export function endedBy({ claims: { exp } }: Token, nowMs: number): boolean {
  return typeof exp === 'number' && exp * 1000 < nowMs;
}

/** Whether a token says of itself that it does not hold yet (RFC 7519 section 4.1.5). */
export function beginsAfter({ claims: { nbf } }: Token, nowMs: number): boolean {
  return typeof nbf === 'number' && nbf * 1000 > nowMs;
}

/** What a token says of itself that its scheme does not take. */
export function tokenMisfit(
  scheme: Pick<SchemeFacts, 'algorithms' | 'issuer' | 'audience' | 'own'> | undefined,
  { header, claims }: Token,
): { readonly promised: string; readonly says: string } | undefined {
  if (!scheme) return undefined;
  const { alg } = header;
  const { iss, aud } = claims;
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (scheme.algorithms && !scheme.algorithms.includes(String(alg)))
    return { promised: `signed with ${scheme.algorithms.join(' or ')}`, says: String(alg) };
  if (scheme.issuer !== undefined && iss !== scheme.issuer) return { promised: `from ${scheme.issuer}`, says: String(iss) };
  if (scheme.audience !== undefined && !audiences.includes(scheme.audience))
    return { promised: `for ${scheme.audience}`, says: audiences.join(', ') };
  const { typ, mustEnd } = tokenDemands(scheme);
  if (typ !== undefined && mediaType(String(header.typ)) !== mediaType(typ))
    return { promised: `of the type ${typ}`, says: String(header.typ) };
  return mustEnd && claims.exp === undefined ? { promised: 'with an end', says: 'none' } : undefined;
}

/** What a scheme asks of tokens beside who signed them and for whom: what they say that they are, and an end. */
export function tokenDemands({ own: { typ, expires } }: Pick<SchemeFacts, 'own'>): {
  readonly typ: string | undefined;
  readonly mustEnd: boolean;
} {
  return { typ: typeof typ === 'string' ? typ : undefined, mustEnd: expires === 'required' };
}

/** A type of tokens, with what may be left out of it (RFC 7515 section 4.1.9). */
function mediaType(typ: string): string {
  const word = typ.toLowerCase();
  return word.includes('/') ? word : `application/${word}`;
}

/** What is wrong with a token that is accepted. */
export function tokenFlaw(facts: SchemeFacts, text: string): FormFlaw | undefined {
  const token = readToken(text);
  if (!token) return { promised: `what ${facts.name} accepts are tokens of RFC 7519`, seen: 'the one that is accepted is none' };
  const misfit = tokenMisfit(facts, token);
  return misfit && { promised: `tokens are ${misfit.promised}`, seen: `the one that is accepted says ${misfit.says}` };
}

/** The near misses of what may be a token: of its parts and its text where it is one, of a key where it is none. */
export function tokenMisses(facts: Pick<SchemeFacts, 'generate'>, text: string, forge: Forge): NearMiss[] {
  const token = readToken(text);
  return token ? [...breaking('token formats', ofToken(token, forge)), ...ofText(text)] : ofKey(facts, text);
}

/** A token by fewer algorithms, or for somebody, is asked more of; another issuer signs other tokens. */
export function compareTokens(before: SchemeFacts, after: SchemeFacts): Comparison {
  const isWithin = (inner: readonly string[] | undefined, outer: readonly string[] | undefined) =>
    outer === undefined || (inner?.every((word) => outer.includes(word)) ?? false);
  const one = (text: string | undefined) => (text === undefined ? undefined : [text]);
  return together([
    compareBy(before.algorithms, after.algorithms, isWithin),
    compareBy(one(before.issuer), one(after.issuer), isWithin),
    compareBy(one(before.audience), one(after.audience), isWithin),
    compareBy(one(tokenDemands(before).typ), one(tokenDemands(after).typ), isWithin),
    compareBy(endOf(before), endOf(after), isWithin),
  ]);
}

/** Tokens with an end are some of all tokens. */
function endOf(facts: SchemeFacts): readonly string[] | undefined {
  return tokenDemands(facts).mustEnd ? ['with an end'] : undefined;
}

function ofToken({ header, claims, signature, signed }: Token, forge: Forge) {
  const rest = signed.slice(signed.indexOf('.') + 1);
  const others = encoded({ ...claims, sub: `${String(claims.sub ?? '')}-ninefold-verify` });
  const unsigned = `${encoded({ ...header, alg: 'none' })}.${rest}`;
  const content = `${encoded(header)}.${rest}`;
  return [
    { how: 'its signature is left out', text: `${signed}.` },
    { how: 'its algorithm is `none`', text: `${unsigned}.` },
    { how: 'its algorithm is `none`, and the old signature stands behind it', text: `${unsigned}.${signature}` },
    { how: 'its claims are others than those that were signed', text: `${signed.split('.')[0]}.${others}.${signature}` },
    // By a key that was made for this purpose, under the name that the good one gives.
    { how: 'it is signed with a key of somebody else', text: `${content}.${forge(String(header.alg), content)}` },
  ];
}

function decoded(text: string): Record<string, Json> | undefined {
  try {
    const value: Json = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return isMap(value) ? (value as Record<string, Json>) : undefined;
  } catch {
    return undefined;
  }
}

function encoded(value: Readonly<Record<string, Json>>): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
