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
      const content = fill(signs, signed);
      if (parts.length === 1) return { [name]: withHmac(fill(value, signed), content, newest) };
      const filled = parts.flatMap((part) =>
        hmac.test(part)
          ? secrets.map((secret) => withHmac(fill(part, signed), content, secret))
          : [fill(part, signed)],
      );
      return { [name]: filled.join(',') };
    },
  };
}

const hmac = /\{hmac-(sha1|sha256|sha512):(hex|base64)\}/;

function fill(template: string, { id, timestamp, body }: Signed): string {
  return template.replace(/\{(timestamp|id|body)\}/g, (_, word) =>
    word === 'body' ? body : word === 'id' ? id : String(timestamp),
  );
}

function withHmac(text: string, content: string, secret: string): string {
  return text.replace(new RegExp(hmac, 'g'), (_, hash: string, form: 'hex' | 'base64') =>
    createHmac(hash, secret).update(content).digest(form),
  );
}
