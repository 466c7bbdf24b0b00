import { createCipheriv, hash, timingSafeEqual } from 'node:crypto';
import type { Scalar } from '../../store/store.ts';

/** Where a page ends: the sort values of its last row and that row's creation number. */
export interface Position {
  readonly keys: readonly Scalar[];
  readonly seq: number;
  /** Whether it leads back. */
  readonly back: boolean;
}

/** Opaque, signed cursors, each bound to the query that it was given for. */
export interface Cursors {
  /** `isSealed` = nobody but us can read what it holds. */
  write(position: Position, query: string, isSealed?: boolean): string;
  /** Nothing where the cursor is not ours, or was given for another query. */
  read(cursor: string, query: string): Position | undefined;
}

/** Makes cursors signed with a secret (HMAC-SHA256, RFC 2104, cut to 128 bits). */
export function compileCursors(secret: string): Cursors {
  const mac = hmacSha256(secret);
  const sign = (payload: string, query: string) => mac(`${payload}\n${query}`).subarray(0, 16).toString('base64url');
  // The signature is the start of the key stream: the same cursor is sealed to the same text, and no two others share one.
  const seal = (bytes: Buffer, signature: string) =>
    createCipheriv('aes-256-ctr', mac('seal'), Buffer.from(signature, 'base64url')).update(bytes);
  return {
    write({ keys, seq, back }, query, isSealed = false) {
      const bytes = Buffer.from(JSON.stringify([seq, back ? 1 : 0, ...keys.map(writeKey)]));
      const payload = bytes.toString('base64url');
      const signature = sign(payload, query);
      return isSealed ? `~${seal(bytes, signature).toString('base64url')}.${signature}` : `${payload}.${signature}`;
    },
    read(cursor, query) {
      const dot = cursor.indexOf('.');
      const sent = cursor.slice(dot + 1);
      if (dot < 1 || !/^[\w-]{22}$/.test(sent)) return undefined;
      const isSealed = cursor.startsWith('~');
      const text = cursor.slice(isSealed ? 1 : 0, dot);
      const bytes = Buffer.from(text, 'base64url');
      // Of several texts that decode to the same bytes, only ours is right.
      if (bytes.toString('base64url') !== text) return undefined;
      const payload = isSealed ? seal(bytes, sent).toString('base64url') : text;
      if (!isSame(sent, sign(payload, query))) return undefined;
      // The signature proves that this was written above.
      const [seq, back, ...keys] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [number, number, ...unknown[]];
      return { seq, back: back === 1, keys: keys.map(readKey) };
    },
  };
}

/** HMAC-SHA256 with its two pads made once: two one-shot hashes cost a third of a keyed stream (RFC 2104 section 4). */
function hmacSha256(secret: string): (text: string) => Buffer {
  const block = Buffer.alloc(64);
  const key = Buffer.from(secret);
  (key.length > 64 ? hash('sha256', key, 'buffer') : key).copy(block);
  const inner = block.map((byte) => byte ^ 0x36);
  const outer = Buffer.alloc(96);
  outer.set(block.map((byte) => byte ^ 0x5c));
  return (text) => {
    hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer').copy(outer, 64);
    return hash('sha256', outer, 'buffer');
  };
}

/** Compared as texts: of several texts that decode to one signature, only ours is right. */
function isSame(sent: string, own: string): boolean {
  const [left, right] = [Buffer.from(sent), Buffer.from(own)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Integers beyond 2^53 are written as `{ "i": "…" }`. */
function writeKey(key: Scalar): unknown {
  return typeof key === 'bigint' ? { i: String(key) } : key;
}

function readKey(key: unknown): Scalar {
  if (typeof key === 'object' && key !== null && 'i' in key) return BigInt(String(key.i));
  return key as Scalar;
}
