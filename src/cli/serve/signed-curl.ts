import { randomUUID } from 'node:crypto';
import { signingKeyOf } from '../../kinds/schemes/request-keys.ts';
import { readSigner } from '../../kinds/schemes/signing.ts';
import { kindOfScheme, placed, schemePrefix } from '../../parts/authentication.ts';
import { entryOf } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import type { DevelopmentCredential } from '../../serve/callers/development.ts';

/** The header fields that sign a request with a key that was made for this run; they hold for as long as the tolerance of their scheme. */
export function signedHeaders(
  spec: Spec,
  { scheme: name, value }: DevelopmentCredential,
  request: { readonly method: string; readonly url: string; readonly body: string | undefined },
): readonly (readonly [name: string, value: string])[] {
  const scheme = entryOf(spec.authentication.schemes, name);
  const proof = scheme && kindOfScheme(scheme)?.proof;
  const signer = readSigner(value);
  if (!scheme || proof?.by !== 'signing' || !signer) return [];
  const signing = proof.compile(placed(scheme));
  const key = signingKeyOf(signing.algorithms, signer.secret);
  if (!key) return [];
  const { origin } = new URL(request.url);
  const fields = signing.sign(
    {
      method: request.method,
      target: request.url.slice(origin.length),
      headers: request.body === undefined ? {} : { 'content-type': 'application/json' },
      body: request.body === undefined ? undefined : Buffer.from(request.body),
      origin,
    },
    { keyId: signer.keyId, key },
    { nowMs: Date.now(), nonce: randomUUID() },
  );
  const prefix = schemePrefix(scheme) ?? '';
  const carrier = placed(scheme).carriedIn?.toLowerCase();
  const whole = (text: string) => (prefix === '' ? text : `${prefix}${/\w$/.test(prefix) ? ' ' : ''}${text}`);
  return Object.entries(fields).map(([field, text]) => [field, field === carrier ? whole(text) : text]);
}
