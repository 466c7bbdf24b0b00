import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import type { Draw } from '../../kinds/generators/kind.ts';

/** Everything that a case draws, made of a seed and the case's name, so that the same comes again whatever ran before. */
export class Draws {
  readonly #seed: string;
  #drawn = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** One value. */
  value<T>(arbitrary: fc.Arbitrary<T>): T {
    return this.values(arbitrary, 1)[0] as T;
  }

  values<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
    return fc.sample(arbitrary, { seed: this.#next(), numRuns: count });
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items.length === 0 ? undefined : items[this.whole(items.length)];
  }

  /** A whole number from 0 on, below this. */
  whole(below: number): number {
    return (this.#next() >>> 0) % below;
  }

  #next(): number {
    this.#drawn += 1;
    return numberOf(`${this.#seed}\n${this.#drawn}`);
  }
}

/** A number of 32 bits from a text, always the same. */
function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readInt32BE(0);
}

/** What is new in one run: never the same twice, and drawn from the machine's own chance. */
export function runDraw(): Draw {
  return {
    nowMs: Date.now(),
    bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    uuid: () => crypto.randomUUID(),
  };
}
