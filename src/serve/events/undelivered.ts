/** What could not be delivered, for whoever runs the service. */

import type { StoredDelivery } from '../../store/outbox.ts';
import type { Clock } from '../http/clock.ts';
import type { Posted } from './posts.ts';

/** The first failure of a receiver, which is told while others like it are not. */
export interface Undelivered {
  readonly at: string;
  /** The kind of the event. */
  readonly kind: string;
  /** The identifier of the subscriber; `broker` is the one that the document states. */
  readonly subscriber: string;
  /** Where it was sent, without a path, which may hold a secret. */
  readonly to: string;
  /** Which try it was, from 1. */
  readonly attempt: number;
  readonly status?: number;
  /** Why it failed, in words. */
  readonly why: string;
}

/** What is told of a subscriber. */
interface Failing {
  readonly id: string;
  readonly url: string;
  readonly isBroker?: boolean;
}

/** How long a receiver that fails, is well and fails again is not told of anew. */
const quietMs = 3_600_000;
const rememberedMost = 10_000;

/** Tells of receivers that fail: of each when that begins, and not of one that comes and goes more than once an hour. */
export class UndeliveredTelling {
  readonly #tell: ((undelivered: Undelivered) => void) | undefined;
  readonly #clock: Clock;
  readonly #toldMs = new Map<string, number>();

  constructor(tell: ((undelivered: Undelivered) => void) | undefined, clock: Clock) {
    this.#tell = tell;
    this.#clock = clock;
  }

  isTold(subscriber: string): boolean {
    return this.#tell === undefined || this.#toldMs.has(subscriber);
  }

  failed(kind: string, { id, url, isBroker }: Failing, { tries }: StoredDelivery, posted: Posted): void {
    if (this.isTold(id)) return;
    const [eldest] = this.#toldMs.keys();
    if (this.#toldMs.size >= rememberedMost && eldest !== undefined) this.#toldMs.delete(eldest);
    const nowMs = this.#clock.now();
    this.#toldMs.set(id, nowMs);
    this.#tell?.({
      at: new Date(nowMs).toISOString(),
      kind,
      subscriber: isBroker ? 'broker' : id,
      to: placeOf(url),
      attempt: tries + 1,
      ...(posted.status !== undefined && { status: posted.status }),
      why: wordsOf(posted),
    });
  }

  accepted(subscriber: string): void {
    const toldMs = this.#toldMs.get(subscriber);
    if (toldMs !== undefined && this.#clock.now() - toldMs >= quietMs) this.#toldMs.delete(subscriber);
  }
}

function placeOf(text: string): string {
  const url = URL.parse(text);
  return url ? `${url.protocol}//${url.host}` : 'its address';
}

function wordsOf({ status, error, isRefused }: Posted): string {
  if (error !== undefined) return error;
  return isRefused ? `It was answered ${status}, and not as it has to be.` : `It was answered ${status}.`;
}
