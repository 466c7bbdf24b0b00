import type { Index } from './counters.ts';
import { Slots } from './uses.ts';

/** Names of callers and users, by small numbers. */
export class NameIndex implements Index<string> {
  readonly #slots = new Slots();
  readonly #slotOf = new Map<string, number>();
  readonly #names: (string | undefined)[] = [];

  get size(): number {
    return this.#slotOf.size;
  }

  get made(): number {
    return this.#slots.made;
  }

  /** What can be told of it; a map's own size cannot. */
  get bytes(): number {
    return this.#names.length * 8 + this.#slots.bytes;
  }

  find(name: string): number {
    return this.#slotOf.get(name) ?? -1;
  }

  add(name: string): number {
    const slot = this.#slots.take();
    this.#slotOf.set(name, slot);
    this.#names[slot] = name;
    return slot;
  }

  has(slot: number): boolean {
    return this.#names[slot] !== undefined;
  }

  remove(slot: number): void {
    this.#slotOf.delete(this.#names[slot]!);
    this.#names[slot] = undefined;
    this.#slots.giveBack(slot);
  }

  /** No caller's name begins like this. */
  shared(): string {
    return '\nshared';
  }
}
