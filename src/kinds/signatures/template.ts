import { createHmac } from 'node:crypto';
import type { Signature, Signed } from './kind.ts';

/** A signature as a document writes it: `{ header, value: "t={timestamp},v1={hmac-sha256:hex}", signs: "{timestamp}.{body}" }`. */
export interface SignatureTemplate {
  readonly header: string;
  readonly value: string;
  readonly signs: string;
}

/**
 * A signature of one's own. The secret is the key as it is written. While two secrets are good, the parts of the value
 * that hold a signature, between commas, stand once for each; a value that is one part alone is signed with the newest.
 */
export function templateSignature({ header, value, signs }: SignatureTemplate): Signature {
  const parts = value.split(',');
  const name = header.toLowerCase();
  return {
    sign(signed, secrets) {
      const [newest] = secrets;
      if (newest === undefined || newest === '') return { wrong: 'There is no secret to sign with.' };
      const content = fill(signs, signed, '', newest);
      const filled = parts.flatMap((part) => {
        const keys = parts.length > 1 && part.includes('{hmac-') ? secrets : [newest];
        return keys.map((secret) => fill(part, signed, content, secret));
      });
      return { [name]: filled.join(',') };
    },
  };
}

const words = /\{(?:(timestamp|id|body)|hmac-(sha1|sha256|sha512):(hex|base64))\}/g;

function fill(template: string, { id, timestamp, body }: Signed, content: string, secret: string): string {
  return template.replace(words, (_, word: string | undefined, hash: string, form: 'hex' | 'base64') => {
    if (word === undefined) return createHmac(hash, secret).update(content).digest(form);
    return word === 'body' ? body : word === 'id' ? id : String(timestamp);
  });
}
