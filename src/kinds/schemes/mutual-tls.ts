import { hash, X509Certificate } from 'node:crypto';
import { challengeOf } from './challenges.ts';
import type { SchemeKind } from './kind.ts';
import { ofText } from './near-misses.ts';
import { looksLikeToken } from './token.ts';

/** A client's certificate, told by a proxy that ended its TLS: the certificate itself (RFC 9440 section 2), or its SHA-256 fingerprint. */
export const mutualTls = {
  word: 'mutual_tls',
  meaning: 'The certificate that a caller showed to a trusted proxy, which tells it in a header.',
  members: {},
  usualHeader: 'Client-Cert',
  // A browser shows a certificate by itself, as it does a name and a password.
  proof: { by: 'key', isToldByProxy: true, form: '{hex:64}', read: fingerprintIn, write: (key) => key },
  hasStandardForm: true,
  problems: () => [],
  challenge: ({ realm }) => challengeOf('MutualTLS', [['realm', realm]]),
  takes: (text) => !looksLikeToken(text),
  presented: (text) => ({ text }),
  invented: 'f'.repeat(64),
  formFlaw: (_facts, text) =>
    fingerprintIn(text) === undefined ? { promised: 'a certificate (RFC 9440), or its fingerprint', seen: text } : undefined,
  nearMisses: (_facts, text) => ofText(text),
  toOpenApi: () => ({ written: { type: 'mutualTLS' }, told: [], isKindTold: false, takesScopes: false }),
  isInOpenApi: () => false,
  // Which proxy ends the TLS of somebody else's service, and how it tells, no other format says.
  ofForeign: () => undefined,
  toAsyncApi: () => ({ type: 'X509' }),
  compare: () => 'same',
} as const satisfies SchemeKind;

/** The largest certificate that is read, in characters of base64. */
const certificateMost = 16_384;

/** The fingerprint that a header says, in small hexadecimal digits: of `:base64:` (RFC 8941 section 3.3.5) or of a fingerprint, with colons or without. */
function fingerprintIn(text: string): string | undefined {
  const digits = text.replaceAll(':', '').toLowerCase();
  if (/^[0-9a-f]{64}$/.test(digits)) return digits;
  if (text.length > certificateMost || !/^:[A-Za-z0-9+/]+={0,2}:$/.test(text)) return undefined;
  const der = Buffer.from(text.slice(1, -1), 'base64');
  return der.toString('base64') === text.slice(1, -1) && isCertificate(der) ? hash('sha256', der, 'hex') : undefined;
}

/** Whether these are the bytes of one certificate, and of nothing behind it. */
function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).raw.equals(der);
  } catch {
    return false;
  }
}
