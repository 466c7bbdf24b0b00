import type { Decision, RateFacts, RateKind, Use } from '../../kinds/limits/kind.ts';
import type { Counted, RateUse } from '../exchange/counted.ts';
import { LogUses, PairUses, type Uses } from './usage.ts';

/** Which small number stands for a key. */
export interface Index<Key> {
  readonly size: number;
  readonly bytes: number;
  /** All numbers are below this one. */
  readonly made: number;
  /** The number of a key, or -1. */
  find(key: Key): number;
  /** Adds a key that is not there. */
  add(key: Key): number;
  has(slot: number): boolean;
  remove(slot: number): void;
  /** The key that this one is counted under where there is no room for it. */
  shared(key: Key): Key;
}

/** How much room the counters of one rate have. */
interface Room {
  /** How many keys are counted apart; those that come beyond that share counters. */
  readonly keys: number;
  /** How many moments a log remembers, besides two for each key. */
  readonly moments: number;
}

/** Addresses are many, and anybody's: so many moments keep a million of them within 64 MiB. */
export const addressRoom: Room = { keys: 4_194_304, moments: 2 ** 18 };
export const nameRoom: Room = { keys: 4_194_304, moments: 2 ** 20 };

/** How many counters are looked at for each new one, to let go of those that are over. */
const sweptPerNew = 3;

/** How long a counter that is over is left where it is: who asks all the time would be let go of and taken in again each time. */
const lingerMs = 1000;

/** What one rate has counted for each key. */
export class RateCounter<Key> {
  readonly #kind: RateKind;
  readonly #facts: RateFacts;
  readonly #index: Index<Key>;
  readonly #uses: Uses;
  readonly #swept: Use;
  readonly #most: number;
  #hand = 0;

  constructor(kind: RateKind, facts: RateFacts, index: Index<Key>, room: Room) {
    this.#kind = kind;
    this.#facts = facts;
    this.#index = index;
    this.#uses = kind.numbersMax === 2 ? new PairUses() : new LogUses(room.moments);
    this.#swept = { numbers: new Float64Array(kind.numbersMax), length: 0 };
    this.#most = room.keys;
  }

  get size(): number {
    return this.#index.size;
  }

  get bytes(): number {
    return this.#index.bytes + this.#uses.bytes;
  }

  /** What a key has used; gives its own number for `keep`, or -1. */
  look(key: Key, use: Use): number {
    const own = this.#index.find(key);
    const slot = own === -1 && this.#index.size >= this.#most ? this.#index.find(this.#index.shared(key)) : own;
    if (slot === -1) use.length = 0;
    else this.#uses.load(slot, use);
    return own;
  }

  /** Keeps what a key has used by now; nothing was kept since it was looked at. */
  keep(key: Key, own: number, use: Use, nowMs: number): void {
    let slot = own;
    if (use.length === 0) {
      if (slot !== -1) this.#drop(slot);
      return;
    }
    if (slot === -1) {
      this.#sweep(nowMs);
      slot = this.#index.size < this.#most ? this.#add(key) : this.#addShared(this.#index.shared(key));
    }
    this.#uses.save(slot, use);
  }

  #addShared(key: Key): number {
    const slot = this.#index.find(key);
    return slot === -1 ? this.#add(key) : slot;
  }

  #add(key: Key): number {
    const slot = this.#index.add(key);
    this.#uses.open(slot);
    return slot;
  }

  #drop(slot: number): void {
    this.#index.remove(slot);
    this.#uses.drop(slot);
  }

  #sweep(nowMs: number): void {
    const { made } = this.#index;
    for (let n = 0; n < sweptPerNew && n < made; n++) {
      this.#hand = (this.#hand + 1) % made;
      if (!this.#index.has(this.#hand)) continue;
      this.#uses.load(this.#hand, this.#swept);
      if (this.#kind.expiresMs(this.#facts, this.#swept) + lingerMs <= nowMs) this.#drop(this.#hand);
    }
  }
}

/** What is needed of a rate to count by it. */
export interface CountingRate {
  /** How it begins in the `RateLimit` field. */
  readonly label: string;
  readonly kind: RateKind;
  readonly facts: RateFacts;
  /** How many units one request is. */
  readonly unit: number;
  /** Whether an answer of a status counts nothing in the end; absent where each counts. */
  readonly isUncounted?: (status: number) => boolean;
  /** What the key that was looked at last has used. */
  readonly use: Use;
}

/** One rate's decision about one call. */
export class CountedRate<Key = unknown> implements RateUse {
  readonly rate: CountingRate;
  decision: Decision;
  readonly #counters: RateCounter<Key>;
  readonly #key: Key;
  readonly #own: number;
  readonly #atMs: number;
  readonly #cost: number;

  constructor(rate: CountingRate, counters: RateCounter<Key>, key: Key, nowMs: number, cost: number) {
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

  answered(status: number, nowMs: number): void {
    if (this.#cost === 0 || this.rate.isUncounted?.(status) !== true) return;
    this.giveBack(nowMs);
    const { kind, facts, use } = this.rate;
    this.#counters.look(this.#key, use);
    // What is left is told as it is now; nothing is kept of that.
    this.decision = kind.decide(facts, use, nowMs, 0);
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
