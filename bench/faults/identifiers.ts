/** Identifiers and secrets of the reference services. */
import { randomBytes } from 'node:crypto';

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
let lastMs = 0;
let lastRandom = 0n;

/** A ULID: 48 bits of time and 80 of chance, in Crockford's base 32; later ones are greater. */
export function ulid(): string {
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    lastRandom = BigInt(`0x${randomBytes(10).toString('hex')}`) >> 1n;
  } else lastRandom += 1n;
  return crockford(BigInt(lastMs), 10) + crockford(lastRandom, 16);
}

/** A UUID of version 7 (RFC 9562): 48 bits of time before those of chance. */
export function uuidv7(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Letters and digits that nobody can guess. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) text += randomBytes(length).toString('base64').replaceAll(/[+/=]/g, '');
  return text.slice(0, length);
}

function crockford(value: bigint, length: number): string {
  let text = '';
  for (let rest = value, n = 0; n < length; n++, rest >>= 5n) text = letters[Number(rest & 31n)] + text;
  return text;
}
