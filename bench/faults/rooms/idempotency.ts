/** Idempotency keys: what was answered once is answered again, for a day. */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Row } from './database.ts';
import { type House, Refused } from './house.ts';

interface Kept {
  readonly fingerprint: string;
  readonly atMs: number;
  readonly status: number;
  readonly location?: string;
  readonly body?: Row;
  readonly refused?: Refused;
}

const keepMs = 24 * 3_600_000;
/** The service's own errors, which a key keeps as it keeps successes. */
const keptErrors = ['too_small'];

export interface Idempotency {
  once(request: FastifyRequest, reply: FastifyReply, run: () => { readonly location: string; readonly body: Row }): Row;
}

export function startIdempotency({ clock, faults }: House): Idempotency {
  const kept = new Map<string, Kept>();
  return {
    once(request, reply, run) {
      const key = request.headers['idempotency-key'];
      if (key === undefined || faults.has('idempotency-ignored')) return created(reply, run());
      const { user, id } = request.caller;
      const name = faults.has('keys-shared-by-all') ? String(key) : `${user} ${id} ${key}`;
      const fingerprint = createHash('sha256').update(`${request.originalUrl}\n`).update(request.bytes).digest('hex');
      const before = kept.get(name);
      if (before && clock.now() - before.atMs < keepMs) {
        if (before.fingerprint !== fingerprint && !faults.has('key-for-anything')) throw new Refused('KEY_REUSED');
        if (before.refused) throw before.refused;
        reply.header('Idempotency-Replayed', 'true');
        return created(reply, { location: before.location ?? '', body: before.body ?? {} });
      }
      try {
        const { location, body } = run();
        kept.set(name, { fingerprint, atMs: clock.now(), status: 201, location, body });
        return created(reply, { location, body });
      } catch (error) {
        if (error instanceof Refused && keptErrors.includes(error.code)) {
          kept.set(name, { fingerprint, atMs: clock.now(), status: 0, refused: error });
        }
        throw error;
      }
    },
  };
}

function created(reply: FastifyReply, { location, body }: { readonly location: string; readonly body: Row }): Row {
  reply.code(201).header('Location', location);
  return body;
}
