import { challengeOf } from './challenges.ts';
import type { NearMiss, SchemeKind } from './kind.ts';
import { breaking, otherCase, withAnother } from './near-misses.ts';

/** A name and a password (RFC 7617). */
export const basic = {
  word: 'basic',
  meaning: 'A name and a password.',
  members: {},
  usualHeader: 'Authorization',
  prefix: 'Basic',
  proof: { by: 'password', read: readBasic, write: writeBasic, flaw: basicFlaw },
  hasStandardForm: true,
  hasStandardChallenge: true,
  problems: () => [],
  challenge: ({ realm }) =>
    challengeOf('Basic', [
      ['realm', realm],
      ['charset', 'UTF-8'],
    ]),
  takes: (text) => text.includes(':') || isPresented(text) || isEncoded(text),
  presented,
  invented: writeBasic('ninefold-verify', 'ninefold-verify'),
  formFlaw: () => undefined,
  nearMisses: (_facts, text) => nearMisses(text),
  toOpenApi: () => ({ written: { type: 'http', scheme: 'basic' }, told: [], isKindTold: true, takesScopes: false }),
  isInOpenApi: ({ type, scheme }) => type === 'http' && scheme === 'basic',
  ofForeign({ type, scheme }) {
    const isHttp = type === 'http' && /^basic$/i.test(String(scheme));
    return type === 'basic' || isHttp ? { stated: { type: 'basic' }, read: ['type', 'scheme'] } : undefined;
  },
  toAsyncApi: () => ({ type: 'http', scheme: 'basic' }),
  compare: () => 'same',
} as const satisfies SchemeKind;

/** A name and a password as they are sent (RFC 7617 section 2). */
function isPresented(text: string): boolean {
  return /^Basic [A-Za-z0-9+/]+=*$/i.test(text);
}

/** Whether it is what is sent without the word before it. */
function isEncoded(text: string): boolean {
  return !text.includes(':') && readBasic(text) !== undefined;
}

/** `user:password` is written as it is sent; what is sent already stays, with the word before it or without. */
function presented(text: string): { readonly text: string; readonly name: string } {
  const encoded = isPresented(text) ? text.slice('Basic '.length) : isEncoded(text) ? text : undefined;
  const pair = encoded === undefined ? text : decodedOf(encoded);
  const name = pair.slice(0, Math.max(0, pair.indexOf(':')));
  return { text: encoded === undefined ? encodedOf(text) : text, name };
}

function nearMisses(text: string): NearMiss[] {
  const known = readBasic(text);
  const unreadable = breaking('schemes', [
    { how: 'it is no Base64', text: '%%%' },
    { how: 'there is no colon in it', text: btoa('ninefold-verify') },
  ]);
  if (!known) return unreadable;
  const { name, password } = known;
  const others = breaking('schemes', [
    { how: 'its password is another', text: writeBasic(name, withAnother(password, 0)) },
    { how: 'its password is missing', text: writeBasic(name, '') },
    { how: 'nobody has its name', text: writeBasic(`${name}-ninefold-verify`, password) },
  ]);
  // A password is compared to the letter, in all of its letters (RFC 7617 section 2 gives it in octets).
  const nearly = [
    { how: 'the letters of its password are of the other case', password: otherCase(password) },
    { how: 'the last letter of its password is another', password: withAnother(password, password.length - 1) },
    { how: 'the last letter of its password is missing', password: password.slice(0, -1) },
    { how: 'its password has one letter more', password: `${password}0` },
    { how: 'a letter in the middle of its password is another', password: withAnother(password, password.length >> 1) },
  ].filter((one) => one.password !== password && one.password !== '');
  const told = nearly.map((one) => ({ how: one.how, text: writeBasic(name, one.password) }));
  return [...others, ...breaking('token formats', told), ...unreadable];
}

/** The name and the password in what follows `Basic` (RFC 7617 section 2); nothing where it is none. */
function readBasic(text: string): { readonly name: string; readonly password: string } | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const decoded = decodeUtf8(text);
  const colon = decoded?.indexOf(':') ?? -1;
  if (decoded === undefined || colon < 1 || hasControl(decoded)) return undefined;
  return { name: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** What follows `Basic` for a name and a password. */
function writeBasic(name: string, password: string): string {
  return encodedOf(`${name}:${password}`);
}

/** Why a name or a password cannot be sent, where it cannot. */
function basicFlaw(name: string, password: string): string | undefined {
  if (name === '' || name.includes(':')) return 'the name before a password is not empty and has no colon';
  return hasControl(name) || hasControl(password) ? 'a name or password has no control characters' : undefined;
}

function decodeUtf8(text: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code === 127) return true;
  }
  return false;
}

function encodedOf(text: string): string {
  return Buffer.from(text).toString('base64');
}

function decodedOf(text: string): string {
  return Buffer.from(text, 'base64').toString();
}
