/** What one rate has counted for each key, in as few bytes as it can. */

import type { RateFacts, RateKind, Use } from '../../kinds/limits/kind.ts';

/** Keeps the uses of one rate under small numbers, in as few bytes as it can. */
interface Uses {
  /** Makes room for what will be saved under a number. */
  open(slot: number): void;
  load(slot: number, use: Use): void;
  /** Keeps a use that is not nothing. */
  save(slot: number, use: Use): void;
  drop(slot: number): void;
  readonly bytes: number;
}

/** Arrays grow by pages of so many slots: nothing is copied, and little is kept that is not used. */
export const pageBits = 12;
export const pageSlots = 2 ** pageBits;
export const slotMask = pageSlots - 1;

/** Numbers that were given out and came back. */
export class Slots {
  readonly #free: number[] = [];
  #made = 0;

  /** How many numbers there have ever been: all of them are below this one. */
  get made(): number {
    return this.#made;
  }

  take(): number {
    return this.#free.pop() ?? this.#made++;
  }

  giveBack(slot: number): void {
    this.#free.push(slot);
  }

  get bytes(): number {
    return this.#free.length * 8;
  }
}

/** Uses of two numbers each: 16 bytes. */
class PairUses implements Uses {
  readonly #pages: Float64Array[] = [];

  open(slot: number): void {
    if (slot >= this.#pages.length * pageSlots) this.#pages.push(new Float64Array(2 * pageSlots));
  }

  load(slot: number, use: Use): void {
    const page = this.#pages[slot >>> pageBits]!;
    const at = (slot & slotMask) * 2;
    use.numbers[0] = page[at]!;
    use.numbers[1] = page[at + 1]!;
    use.length = 2;
  }

  save(slot: number, use: Use): void {
    const page = this.#pages[slot >>> pageBits]!;
    const at = (slot & slotMask) * 2;
    page[at] = use.numbers[0]!;
    page[at + 1] = use.numbers[1]!;
  }

  drop(): void {}

  get bytes(): number {
    return this.#pages.length * pageSlots * 16;
  }
}

/**
 * Uses of several pairs of a time and units, oldest first: 4 bytes for each use and 20 for each pair. Each use has two pairs,
 * and all of them together so many to spare; where these are taken, the oldest two of a use become one at the later time, so
 * that it is forgotten late rather than early.
 */
export class LogUses implements Uses {
  /** Of each use, its newest pair and one; the pairs of a use are a ring, in which the newest leads to the oldest. */
  readonly #newest: Uint32Array[] = [];
  readonly #pairs = new Slots();
  readonly #values: Float64Array[] = [];
  readonly #next: Uint32Array[] = [];
  readonly #sparePairs: number;
  #uses = 0;
  #held = 0;

  constructor(sparePairs: number) {
    this.#sparePairs = sparePairs;
  }

  open(slot: number): void {
    if (slot >= this.#newest.length * pageSlots) this.#newest.push(new Uint32Array(pageSlots));
    this.#newest[slot >>> pageBits]![slot & slotMask] = 0;
    this.#uses++;
  }

  load(slot: number, use: Use): void {
    const newest = this.#newest[slot >>> pageBits]![slot & slotMask]! - 1;
    let length = 0;
    for (let pair = newest; length === 0 || pair !== newest; ) {
      pair = this.#next[pair >>> pageBits]![pair & slotMask]!;
      const page = this.#values[pair >>> pageBits]!;
      const at = (pair & slotMask) * 2;
      use.numbers[length++] = page[at]!;
      use.numbers[length++] = page[at + 1]!;
    }
    use.length = length;
  }

  save(slot: number, use: Use): void {
    const newests = this.#newest[slot >>> pageBits]!;
    let newest = newests[slot & slotMask]! - 1;
    let had = newest === -1 ? 0 : this.#count(newest);
    const room = this.#sparePairs + 2 * this.#uses - (this.#held - had);
    while (use.length / 2 > Math.max(2, had, room)) joinOldest(use);
    for (; had > use.length / 2; had--) this.#removeAfter(newest);
    for (; had < use.length / 2; had++) newest = this.#addAfter(newest);
    newests[slot & slotMask] = newest + 1;
    let pair = newest;
    for (let read = 0; read < use.length; read += 2) {
      pair = this.#next[pair >>> pageBits]![pair & slotMask]!;
      const page = this.#values[pair >>> pageBits]!;
      const at = (pair & slotMask) * 2;
      page[at] = use.numbers[read]!;
      page[at + 1] = use.numbers[read + 1]!;
    }
  }

  drop(slot: number): void {
    const newests = this.#newest[slot >>> pageBits]!;
    const newest = newests[slot & slotMask]! - 1;
    for (let left = this.#count(newest); left > 1; left--) this.#removeAfter(newest);
    this.#pairs.giveBack(newest);
    this.#held--;
    this.#uses--;
    newests[slot & slotMask] = 0;
  }

  get bytes(): number {
    const pages = this.#newest.length * 4 + this.#values.length * 16 + this.#next.length * 4;
    return pages * pageSlots + this.#pairs.bytes;
  }

  #count(newest: number): number {
    let count = 1;
    for (let pair = this.#after(newest); pair !== newest; pair = this.#after(pair)) count++;
    return count;
  }

  #after(pair: number): number {
    return this.#next[pair >>> pageBits]![pair & slotMask]!;
  }

  #link(pair: number, next: number): void {
    this.#next[pair >>> pageBits]![pair & slotMask] = next;
  }

  /** Puts a pair into the ring after this one, or starts a ring with it. */
  #addAfter(pair: number): number {
    const added = this.#pairs.take();
    if (added >= this.#values.length * pageSlots) {
      this.#values.push(new Float64Array(2 * pageSlots));
      this.#next.push(new Uint32Array(pageSlots));
    }
    this.#link(added, pair === -1 ? added : this.#after(pair));
    if (pair !== -1) this.#link(pair, added);
    this.#held++;
    return added;
  }

  #removeAfter(pair: number): void {
    const gone = this.#after(pair);
    this.#link(pair, this.#after(gone));
    this.#pairs.giveBack(gone);
    this.#held--;
  }
}

function joinOldest(use: Use): void {
  const { numbers } = use;
  numbers[3] = numbers[3]! + numbers[1]!;
  numbers.copyWithin(0, 2, use.length);
  use.length -= 2;
}

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
