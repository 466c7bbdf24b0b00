import type { ReadSignature, RequestSigning, SignedHead } from '../../kinds/schemes/signing.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Call } from '../http/call.ts';
import type { ProofOutcome, Prove } from './proof.ts';
import type { HeldKey, Signers } from './signers.ts';

interface SignedSetting {
  readonly scheme: string;
  readonly signing: RequestSigning;
  readonly signers: Pick<Signers, 'of' | 'takeNonce'>;
  /** How much of a body is read. */
  readonly bodyBytesMax: number;
}

/**
 * Compiles what shows that a request is signed. What its header fields say is judged first; its body is read only where they name a key
 * that is there, a time that is now, and all that has to be covered. A nonce is used up by a signature that is good, and by no other.
 */
export function compileSignedRequests({ scheme, signing, signers, bodyBytesMax }: SignedSetting): Prove {
  const { toleranceMs, isTakenOnce } = signing;

  function judged(read: ReadSignature, held: readonly HeldKey[], nowMs: number, call: Call): PromiseOrValue<ProofOutcome> {
    const good = held.filter(({ untilMs }) => nowMs < untilMs);
    if (good.length === 0) return held.length === 0 ? undefined : 'expired';
    const body = read.needsBody ? call.body(bodyBytesMax) : nothing;
    return after(body, (bytes) => {
      if (bytes === 'too large') return 'too large';
      const found = good.find(({ key }) => read.isBy(key, bytes));
      if (!found || !isTakenOnce || read.nonce === undefined || passed.has(call)) return found;
      const untilMs = (read.atMs ?? nowMs) + (toleranceMs ?? 0) + 1000;
      return after(signers.takeNonce(scheme, read.keyId, read.nonce, nowMs, untilMs), (isFirst) => {
        if (isFirst) passed.add(call);
        return isFirst ? found : undefined;
      });
    });
  }

  return (text, nowMs, call) => {
    const read = signing.read(signedHead(call), text);
    if (!read) return undefined;
    if (read.atMs !== undefined && toleranceMs !== undefined && Math.abs(nowMs - read.atMs) > toleranceMs)
      return nowMs > read.atMs ? 'expired' : undefined;
    if (read.expiresMs !== undefined && nowMs >= read.expiresMs) return 'expired';
    return after(signers.of(scheme, read.keyId), (held) => judged(read, held, nowMs, call));
  };
}

const nothing = Buffer.alloc(0);

/** Requests whose nonce was taken: one that begins anew, where another document took the place of this one, is no repetition. */
const passed = new WeakSet<Call>();

/** A request as its signature is read from it: a header field that came twice is one of which nobody knows which was meant. */
export function signedHead(call: Call): SignedHead {
  const { method, path, query, hasBody, headers } = call;
  return {
    method,
    path,
    query,
    hasBody,
    header(name) {
      const value = headers[name];
      return typeof value === 'string' && !call.repeats?.(name) ? value : undefined;
    },
  };
}
