import { scrypt, timingSafeEqual } from 'node:crypto';
import type { Chance } from '../clock.ts';

/** Work and memory of one hash: 32 MiB, three times over. What is stored says its own, so that these can rise. */
const [log2N, r, p] = [15, 8, 3];
const bytes = 32;

/** A password as it is stored (RFC 7914): `scrypt$15$8$3$salt$hash`. */
export async function hashPassword(password: string, chance: Chance): Promise<string> {
  const salt = Buffer.from(chance.bytes(16));
  const hash = await derive(password, salt, log2N, r, p);
  return ['scrypt', log2N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** Whether a password is the stored one. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [kind, logN, blocks, lanes, salt = '', hash = ''] = stored.split('$');
  if (kind !== 'scrypt') return false;
  const derived = await derive(password, Buffer.from(salt, 'base64url'), Number(logN), Number(blocks), Number(lanes));
  const kept = Buffer.from(hash, 'base64url');
  return kept.length === derived.length && timingSafeEqual(kept, derived);
}

/** What is compared with where nobody has the name, so that an unknown name takes as long as a wrong password. It fits nothing. */
export const nobodysPassword = `scrypt$${log2N}$${r}$${p}$AAAAAAAAAAAAAAAAAAAAAA$`;

function derive(password: string, salt: Buffer, logN: number, blocks: number, lanes: number): Promise<Buffer> {
  const N = 2 ** logN;
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, bytes, { N, r: blocks, p: lanes, maxmem: 256 * N * blocks }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
