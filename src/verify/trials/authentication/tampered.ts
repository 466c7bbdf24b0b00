import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { NearMiss } from '../../../kinds/schemes/kind.ts';
import { kindOfScheme, type Scheme } from '../../../parts/authentication.ts';

/** Everything that can be made from outside of a good credential of a scheme; `text` is what stands behind its prefix. */
export function tamperedWith(scheme: Pick<Scheme, 'type' | 'generate'>, text: string): readonly NearMiss[] {
  return kindOfScheme(scheme)?.nearMisses(scheme, text, signedByOthers) ?? [];
}

/** Whether a credential of a scheme may be a JWT. */
export function isTokenScheme(scheme: Pick<Scheme, 'type'>): boolean {
  const by = kindOfScheme(scheme)?.proof?.by;
  return by !== 'key' && by !== 'password' && by !== 'asking' && by !== 'signing';
}

/** The signature of a key that was made for this purpose. */
function signedByOthers(algorithm: string, content: string): string {
  const hash = `sha${/\d{3}$/.exec(algorithm)?.[0] ?? '256'}`;
  if (algorithm.startsWith('HS')) return createHmac(hash, 'ninefold-verify').update(content).digest('base64url');
  const bytes = Buffer.from(content);
  if (algorithm.startsWith('ES')) {
    const namedCurve = algorithm === 'ES384' ? 'P-384' : algorithm === 'ES512' ? 'P-521' : 'P-256';
    const { privateKey } = generateKeyPairSync('ec', { namedCurve });
    return sign(hash, bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  }
  if (algorithm.startsWith('Ed')) return sign(undefined, bytes, generateKeyPairSync('ed25519').privateKey).toString('base64url');
  return sign(hash, bytes, generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey).toString('base64url');
}
