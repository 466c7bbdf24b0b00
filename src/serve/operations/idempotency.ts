import { createHash } from 'node:crypto';
import type { Idempotency } from '../../parts/endpoints.ts';
import type { Reader, Transaction } from '../../store/store.ts';
import type { Exchange, Keyed, Refusal } from '../exchange/exchange.ts';
import type { Reply } from '../http/call.ts';

/** The keys whose first request is still under way. */
export type InFlight = Set<string>;

/** How long an answer is kept where the document does not say: a day. */
const keepMsUnstated = 86_400_000;

/** Reads the idempotency key of a request: nothing where none is sent or taken. */
export function idempotencyKey(
  stated: Idempotency | undefined,
  exchange: Exchange,
): Keyed | { readonly refusal: Refusal } | undefined {
  if (!stated) return undefined;
  const name = stated.header.toLowerCase();
  const sent = Object.hasOwn(exchange.call.headers, name) ? exchange.call.headers[name] : undefined;
  const text = typeof sent === 'string' ? sent.trim() : undefined;
  const expected = { in: 'header' as const, path: stated.header, expected: 'a key of 1 to 255 characters' };
  if (text === undefined || text === '') {
    return stated.required
      ? { refusal: { when: 'request.parameter', violations: [{ ...expected, found: 'nothing' }] } }
      : undefined;
  }
  if (text.length > 255)
    return { refusal: { when: 'request.parameter', violations: [{ ...expected, found: `${text.length} characters` }] } };
  const { caller, plan, call, bytes, nowMs, view } = exchange;
  const who = caller ? `${caller.user}\n${caller.id}` : '';
  const fingerprint = createHash('sha256')
    .update(`${call.method} ${call.path}?${call.query}\n${view.version ?? ''}\n`)
    .update(bytes ?? '')
    .digest('base64url');
  return {
    key: `idempotency\n${who}\n${plan.operation.name}\n${text}`,
    fingerprint,
    expiresMs: nowMs + (stated.keepMs ?? keepMsUnstated),
  };
}

/** What was answered to this key before: the same answer again, or a refusal where it was another request. */
export function replay(rows: Reader, keyed: Keyed, nowMs: number): Reply | { readonly refusal: Refusal } | undefined {
  const record = rows.record(keyed.key, nowMs);
  if (!record) return undefined;
  if (record.fingerprint !== keyed.fingerprint) return { refusal: { when: 'idempotency.reused' } };
  const { status, headers, body } = JSON.parse(record.body) as {
    status: number;
    headers: Record<string, string>;
    body: string | null;
  };
  return { status, headers: { ...headers, 'idempotency-replayed': 'true' }, body: body ?? undefined };
}

/** Keeps an answer with the change that it answers. */
export function keep(rows: Transaction, keyed: Keyed, { status, headers, body }: Reply): void {
  const text = typeof body === 'string' ? body : body === undefined ? null : Buffer.from(body).toString();
  rows.keep(keyed.key, {
    fingerprint: keyed.fingerprint,
    expiresMs: keyed.expiresMs,
    body: JSON.stringify({ status, headers, body: text }),
  });
}
