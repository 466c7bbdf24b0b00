import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { Json } from '../../document/document.ts';
import { readTemplate } from '../../kinds/generators/template.ts';
import { readBasic, writeBasic } from '../../kinds/schemes/basic.ts';
import type { Scheme } from '../../parts/authentication.ts';
import { isMap } from '../../parts/source.ts';

/** A credential that must not be good, made of one that is. */
export interface Tampered {
  /** What was done to it: `its last character is another`. */
  readonly how: string;
  /** What stands behind the prefix. */
  readonly text: string;
  /** What a service that takes it does not keep: the form in which its scheme has to be read, or the scheme itself. */
  readonly breaks: 'schemes' | 'token formats';
}

/** Everything that can be made from outside of a good credential of a scheme; `text` is what stands behind its prefix. */
export function tamperedWith(scheme: Pick<Scheme, 'type' | 'generate'>, text: string): Tampered[] {
  if (scheme.type === 'basic') return ofBasic(text);
  const token = isTokenScheme(scheme) ? readToken(text) : undefined;
  const others = [...ofText(text), ...(token ? [] : inOtherCase(scheme, text))].map((one) => breaking('schemes', one));
  return [...(token ? ofToken(token) : []).map((one) => breaking('token formats', one)), ...others];
}

/** Whether a credential of a scheme may be a JWT. */
export function isTokenScheme({ type }: Pick<Scheme, 'type'>): boolean {
  return type !== 'api_key' && type !== 'basic';
}

type Edited = Omit<Tampered, 'breaks'>;

function breaking(breaks: Tampered['breaks'], edited: Edited): Tampered {
  return { ...edited, breaks };
}

function ofText(text: string): Edited[] {
  return [
    { how: 'its last character is missing', text: text.slice(0, -1) },
    { how: 'it has one character more', text: `${text}0` },
    { how: 'a character in it is another', text: withAnother(text, text.length - 2) },
    { how: 'it is a word that nobody gave out', text: 'ninefold-verify' },
  ].filter((one) => one.text !== '' && one.text !== text);
}

/** Letters of both cases are told apart where the generator of keys draws on both. */
function inOtherCase({ generate = '' }: Pick<Scheme, 'generate'>, text: string): Edited[] {
  const read = readTemplate(generate);
  if (!('template' in read) || !read.template.mixesCases) return [];
  return [{ how: 'its small letters are capitals, and the other way round', text: otherCase(text) }];
}

function otherCase(text: string): string {
  return [...text].map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())).join('');
}

function ofBasic(text: string): Tampered[] {
  const known = readBasic(text);
  const unreadable = [
    { how: 'it is no Base64', text: '%%%' },
    { how: 'there is no colon in it', text: btoa('ninefold-verify') },
  ].map((one) => breaking('schemes', one));
  if (!known) return unreadable;
  const { name, password } = known;
  const others = [
    { how: 'its password is another', text: writeBasic(name, withAnother(password, 0)) },
    { how: 'its password is missing', text: writeBasic(name, '') },
    { how: 'nobody has its name', text: writeBasic(`${name}-ninefold-verify`, password) },
  ].map((one) => breaking('schemes', one));
  // A password is compared to the letter (RFC 7617 section 2 gives it in octets).
  const inCase = { how: 'the letters of its password are of the other case', text: writeBasic(name, otherCase(password)) };
  return [...others, ...(otherCase(password) === password ? [] : [breaking('token formats', inCase)]), ...unreadable];
}

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

/** Whether a token says of itself that it has ended (RFC 7519 section 4.1.4). */
export function endedBy({ claims: { exp } }: Token, nowMs: number): boolean {
  return typeof exp === 'number' && exp * 1000 < nowMs;
}

/** What a token says of itself that its scheme does not take. */
export function misfitOf(
  scheme: Pick<Scheme, 'algorithms' | 'issuer' | 'audience'> | undefined,
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
  return undefined;
}

function ofToken({ header, claims, signature, signed }: Token): Edited[] {
  const rest = signed.slice(signed.indexOf('.') + 1);
  const others = encoded({ ...claims, sub: `${String(claims.sub ?? '')}-ninefold-verify` });
  const unsigned = `${encoded({ ...header, alg: 'none' })}.${rest}`;
  return [
    { how: 'its signature is left out', text: `${signed}.` },
    { how: 'its algorithm is `none`', text: `${unsigned}.` },
    { how: 'its algorithm is `none`, and the old signature stands behind it', text: `${unsigned}.${signature}` },
    { how: 'its claims are others than those that were signed', text: `${signed.split('.')[0]}.${others}.${signature}` },
    { how: 'it is signed with a key of somebody else', text: signedByOthers(header, rest) },
  ];
}

/** The same token by a key that was made for this purpose, under the name that the good one gives. */
function signedByOthers(header: Token['header'], claims: string): string {
  const algorithm = String(header.alg);
  const content = `${encoded(header)}.${claims}`;
  const bytes = `${content}`;
  const hash = `sha${/\d{3}$/.exec(algorithm)?.[0] ?? '256'}`;
  if (algorithm.startsWith('HS')) return `${content}.${createHmac(hash, 'ninefold-verify').update(bytes).digest('base64url')}`;
  if (algorithm.startsWith('ES')) {
    const namedCurve = algorithm === 'ES384' ? 'P-384' : algorithm === 'ES512' ? 'P-521' : 'P-256';
    const { privateKey } = generateKeyPairSync('ec', { namedCurve });
    return `${content}.${sign(hash, Buffer.from(bytes), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  }
  if (algorithm.startsWith('Ed')) {
    const { privateKey } = generateKeyPairSync('ed25519');
    return `${content}.${sign(undefined, Buffer.from(bytes), privateKey).toString('base64url')}`;
  }
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return `${content}.${sign(hash, Buffer.from(bytes), privateKey).toString('base64url')}`;
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

/** The text with one of its characters replaced by another of its sort. */
function withAnother(text: string, at: number): string {
  const character = text[at] ?? '';
  const other = /\d/.test(character) ? (character === '7' ? '8' : '7') : character === 'q' ? 'r' : 'q';
  return `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
}
