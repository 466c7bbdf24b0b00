import { randomBytes } from 'node:crypto';

let lastMs = 0;
let lastRandom = 0n;

/** An identifier that sorts by time and, inside a millisecond, by the order of creation. */
export function ulid(nowMs: number): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    lastRandom = randomBytes(10).readBigUInt64BE() << 15n;
  } else lastRandom++;
  return crockford(BigInt(lastMs), 10) + crockford(lastRandom, 16);
}

function crockford(value: bigint, length: number): string {
  const digits = value.toString(32).padStart(length, '0');
  let text = '';
  for (const digit of digits) text += '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[Number.parseInt(digit, 32)];
  return text;
}
