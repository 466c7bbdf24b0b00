/** Requests that are signed: the keys of those who sign them, and how one is proved. */

import { type KeptRequestKey, type RequestKey, requestKeyOf } from '../../kinds/schemes/request-keys.ts';
import type { ReadSignature, RequestSigning, SignedHead } from '../../kinds/schemes/signing.ts';
import type { Store } from '../../store/store.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Caller } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';
import { type Good, goodOf, keptOf } from './kept-credentials.ts';
import type { ProofOutcome, Prove } from './presented.ts';
import { Remembered } from './remembered.ts';

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

/** A key that requests are signed with. */
interface HeldKey extends Good {
  readonly key: RequestKey;
}

/** The keys that requests are signed with, by their identifiers, and the nonces that they have used. */
export class Signers {
  readonly #store: Store;
  /** By scheme and identifier. */
  readonly #known = new Remembered<readonly HeldKey[]>(8_192);
  readonly #lent = new Map<string, readonly HeldKey[]>();
  #changes = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The keys of an identifier, those whose time is over among them; none where nobody has it. */
  of(scheme: string, keyId: string): PromiseOrValue<readonly HeldKey[]> {
    const mark = `${scheme}\n${keyId}`;
    const known = this.#lent.get(mark) ?? this.#known.get(mark);
    if (known) return known;
    const changes = this.#changes;
    return after(
      this.#store.read((rows) => rows.credentials({ scheme, lookup: keyId })),
      (found) => {
        // It may have been revoked while it was read.
        if (changes !== this.#changes) return this.of(scheme, keyId);
        const held = found.flatMap((credential) => {
          const { signing } = keptOf(credential);
          return signing ? [{ ...goodOf(credential), key: requestKeyOf(signing) }] : [];
        });
        this.#known.set(mark, held);
        return held;
      },
    );
  }

  /** Takes a nonce of a key, until a time; whether it is the first to. Of all processes that have the store one takes it, once. */
  takeNonce(scheme: string, keyId: string, nonce: string, nowMs: number, untilMs: number): Promise<boolean> {
    const counter = `nonce\n${scheme}\n${keyId}\n${nonce}`;
    return this.#store.change((rows) => rows.addTo(counter, 1, nowMs, untilMs) === 1);
  }

  /** A key for as long as this process runs; it is never stored. */
  lend(scheme: string, keyId: string, kept: KeptRequestKey, caller: Caller): void {
    const held = { caller, untilMs: Number.POSITIVE_INFINITY, key: requestKeyOf(kept) };
    this.#lent.set(`${scheme}\n${keyId}`, [held]);
  }

  /** Those that this process has lent. */
  get lent(): readonly HeldKey[] {
    return [...this.#lent.values()].flat();
  }

  /** What is stored has changed: nothing that was found out before holds any more. */
  changed(): void {
    this.#changes += 1;
    this.#known.clear();
  }
}
