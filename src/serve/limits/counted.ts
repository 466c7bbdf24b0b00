import type { Decision, RateFacts, RateKind, Use } from '../../kinds/limits/kind.ts';
import type { Counted, RateUse } from '../exchange.ts';
import type { Counters } from './counters.ts';

/** What is needed of a rate to count by it. */
export interface CountingRate {
  /** How it begins in the `RateLimit` field. */
  readonly label: string;
  readonly kind: RateKind;
  readonly facts: RateFacts;
  /** How many units one request is. */
  readonly unit: number;
  /** What the key that was looked at last has used. */
  readonly use: Use;
}

/** One rate's decision about one call. */
export class CountedRate<Key = unknown> implements RateUse {
  readonly rate: CountingRate;
  readonly decision: Decision;
  readonly #counters: Counters<Key>;
  readonly #key: Key;
  readonly #own: number;
  readonly #atMs: number;
  readonly #cost: number;

  constructor(rate: CountingRate, counters: Counters<Key>, key: Key, nowMs: number, cost: number) {
    this.rate = rate;
    this.#counters = counters;
    this.#key = key;
    this.#atMs = nowMs;
    this.#cost = cost;
    this.#own = counters.look(key, rate.use);
    this.decision = rate.kind.decide(rate.facts, rate.use, nowMs, cost);
  }

  /** Counts it, before the rate looks at anything else. */
  keep(): void {
    this.#counters.keep(this.#key, this.#own, this.rate.use, this.#atMs);
  }

  /** Takes it out again. */
  giveBack(nowMs: number): void {
    const { kind, facts, use } = this.rate;
    const own = this.#counters.look(this.#key, use);
    kind.giveBack(facts, use, nowMs, { atMs: this.#atMs, cost: this.#cost, before: this.decision.before });
    this.#counters.keep(this.#key, own, use, nowMs);
  }
}

/** The `RateLimit` field of what was decided (draft-ietf-httpapi-ratelimit-headers-11, section 4). */
export function rateLimitField(rates: Counted['rates']): string {
  let field = '';
  for (const { rate, decision } of rates) {
    const { remaining, moreMs } = decision;
    const left = rate.unit === 1 ? remaining : Math.floor(remaining / rate.unit);
    const time = moreMs < longestMs ? `;t=${Math.ceil(moreMs / 1000)}` : '';
    field = field === '' ? rate.label + left + time : `${field}, ${rate.label}${left}${time}`;
  }
  return field;
}

/** `Retry-After` in whole seconds, rounded up; nothing where no wait is long enough. */
export function retryAfter(waitMs: number): Record<string, string> {
  return waitMs < longestMs ? { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) } : {};
}

/** Times beyond this are never told: no integer of a structured field holds them (RFC 9651 section 3.3.1). */
const longestMs = 1e15;
