import { type KeptRequestKey, type RequestKey, requestKeyOf } from '../../kinds/schemes/request-keys.ts';
import type { Store } from '../../store/store.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Caller } from '../exchange/exchange.ts';
import { type Good, goodOf, keptOf } from './kept-credentials.ts';
import { Remembered } from './remembered.ts';

/** A key that requests are signed with. */
export interface HeldKey extends Good {
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
