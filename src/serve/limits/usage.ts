import type { Use } from '../../kinds/limits/kind.ts';

/** Keeps the uses of one rate under small numbers, in as few bytes as it can. */
export interface Uses {
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
export class PairUses implements Uses {
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
