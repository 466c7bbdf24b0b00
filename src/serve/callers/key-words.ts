/** The words that stand before a key, or around it, where it is the whole of `Authorization`. */

import type { Accepted } from './accepted-schemes.ts';

/**
 * A key has no blanks: what stands before one is a word for its scheme. Parameters (RFC 9110 section 11.4) that sign the request name the key that they are
 * made with: `Credential=KEY/2026…/aws4_request`, `keyId="KEY"`. Whether it was made with that, only who has its secret can say.
 */
export function withoutWord(text: string): string {
  const [, word, rest = ''] = /^([A-Za-z][\w-]{0,39}) +(\S.*)$/.exec(text) ?? [];
  if (word === undefined) return text;
  return signingKeyIn(rest) ?? (/\s/.test(rest) ? text : rest);
}

/** The key that parameters name which sign a request; nothing where they name none. */
export function signingKeyIn(parameters: string): string | undefined {
  return /^(?:[\w-]+="?[^",]*"?, *){0,8}(?:Credential|keyId)="?([^"/,\s]{1,200})/i.exec(parameters)?.[1];
}

/** Whether a credential stands in `Authorization`. */
export function isAuthorization(place: Accepted['in'], carrier: string): boolean {
  return place === 'header' && carrier.toLowerCase() === 'authorization';
}

/** The word before a credential: the stated one, or that of a key in `Authorization` whose scheme is called a bearer's. */
export function usualWord({ in: place, carrier, prefix, scheme }: Accepted): string | undefined {
  return prefix ?? (isAuthorization(place, carrier) && /bearer/i.test(scheme.name) ? 'Bearer' : undefined);
}
