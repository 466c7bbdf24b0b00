import { hash } from 'node:crypto';
import { readDictionary, writeBytes } from './structured-fields.ts';

const hashes: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
]);

/** The digest of a body as `Content-Digest` has it (RFC 9530 section 2). */
export function contentDigest(body: Uint8Array): string {
  return `sha-256=${writeBytes(hash('sha256', body, 'buffer'))}`;
}

/** Whether a `Content-Digest` is that of a body: each digest that there are means for is, and there is one. */
export function isDigestOf(field: string, body: Uint8Array): boolean {
  const known = [...(readDictionary(field) ?? [])].flatMap(([name, { value }]) => {
    const algorithm = hashes.get(name);
    return algorithm === undefined ? [] : [value instanceof Uint8Array && hash(algorithm, body, 'buffer').equals(value)];
  });
  return known.length > 0 && !known.includes(false);
}
