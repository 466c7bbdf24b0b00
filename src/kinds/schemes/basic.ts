import { challengeOf, type SchemeKind } from './kind.ts';

/** A name and a password (RFC 7617). */
export const basic: SchemeKind = {
  type: 'basic',
  meaning: 'A name and a password.',
  prefix: 'Basic',
  proof: 'password',
  challenge: ({ realm }) =>
    challengeOf('Basic', [
      ['realm', realm],
      ['charset', 'UTF-8'],
    ]),
};

/** The name and the password in what follows `Basic` (RFC 7617 section 2); nothing where it is none. */
export function readBasic(text: string): { readonly name: string; readonly password: string } | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const decoded = decodeUtf8(text);
  const colon = decoded?.indexOf(':') ?? -1;
  if (decoded === undefined || colon < 1 || hasControl(decoded)) return undefined;
  return { name: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** What follows `Basic` for a name and a password. */
export function writeBasic(name: string, password: string): string {
  let bytes = '';
  for (const byte of new TextEncoder().encode(`${name}:${password}`)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

/** Why a name or a password cannot be sent, where it cannot. */
export function basicFlaw(name: string, password: string): string | undefined {
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
