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
