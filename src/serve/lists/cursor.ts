import { createHmac, timingSafeEqual } from 'node:crypto';
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
  write(position: Position, query: string): string;
  /** Nothing where the cursor is not ours, or was given for another query. */
  read(cursor: string, query: string): Position | undefined;
}

/** Makes cursors signed with a secret (HMAC-SHA256, cut to 128 bits). */
export function compileCursors(secret: string): Cursors {
  const sign = (payload: string, query: string) =>
    createHmac('sha256', secret).update(payload).update('\n').update(query).digest().subarray(0, 16);
  return {
    write({ keys, seq, back }, query) {
      const payload = Buffer.from(JSON.stringify([seq, back ? 1 : 0, ...keys.map(writeKey)])).toString('base64url');
      return `${payload}.${sign(payload, query).toString('base64url')}`;
    },
    read(cursor, query) {
      const dot = cursor.indexOf('.');
      const payload = cursor.slice(0, dot);
      const signature = Buffer.from(cursor.slice(dot + 1), 'base64url');
      if (dot < 1 || signature.length !== 16 || !timingSafeEqual(signature, sign(payload, query))) return undefined;
      // The signature proves that this was written above.
      const [seq, back, ...keys] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [number, number, ...unknown[]];
      return { seq, back: back === 1, keys: keys.map(readKey) };
    },
  };
}

/** Integers beyond 2^53 are written as `{ "i": "…" }`. */
function writeKey(key: Scalar): unknown {
  return typeof key === 'bigint' ? { i: String(key) } : key;
}

function readKey(key: unknown): Scalar {
  if (typeof key === 'object' && key !== null && 'i' in key) return BigInt(String(key.i));
  return key as Scalar;
}
