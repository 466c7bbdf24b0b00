import type { Credential } from '../exchange/callers.ts';

/** What stands before a credential, and the credential without it. */
export function credentialParts({ value, scheme }: Credential): { readonly prefix: string; readonly text: string } {
  const prefix = /^[A-Za-z]+ +/.exec(value)?.[0] ?? scheme.prefix ?? '';
  return value.startsWith(prefix) ? { prefix, text: value.slice(prefix.length) } : { prefix: '', text: value };
}
