import type { RowNumbers } from '../store.ts';
import type { FoundValues } from './connection.ts';

/** How many numbers one part has; the last may have fewer. */
export const partLength = 1000;

/** Very many numbers as a database told them, a text of some thousand letters for each part, of which none is read before it is wanted. */
export class NumberParts implements RowNumbers {
  readonly length: number;
  readonly #parts: readonly string[];
  #read: { readonly at: number; readonly numbers: readonly number[] } | undefined;

  /** @param found The parts in their order: how many numbers each has, and the numbers with commas between them. */
  constructor(found: readonly FoundValues[]) {
    this.length = found.reduce((sum, [count]) => sum + Number(count), 0);
    this.#parts = found.map(([, text]) => String(text));
  }

  slice(from = 0, to = this.length): number[] {
    const out: number[] = [];
    for (let at = from; at < Math.min(to, this.length); ) {
      const part = Math.floor(at / partLength);
      const some = this.#part(part).slice(at - part * partLength, to - part * partLength);
      for (const number of some) out.push(number);
      at += some.length;
    }
    return out;
  }

  #part(at: number): readonly number[] {
    if (this.#read?.at !== at) this.#read = { at, numbers: (this.#parts[at] ?? '').split(',').map(Number) };
    return this.#read.numbers;
  }
}
