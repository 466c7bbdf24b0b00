import type { Draw } from '../../kinds/generators/kind.ts';
import { Fresh } from '../exchange/symbol.ts';

/** The most characters that such a text has, with a little before and after it. */
export const ownTextMost = 14;

/** A text that nobody else has, and texts that are made of it: whoever looks for one of them finds the others, and nothing else. */
export class OwnText {
  readonly #made = new WeakMap<Draw, string>();

  /** Letters and digits alone, of one case, so that everybody orders and compares them in the same way. */
  with(before = '', after = ''): Fresh {
    return new Fresh((draw) => `${before}${this.#of(draw)}${after}`);
  }

  #of(draw: Draw): string {
    const known = this.#made.get(draw) ?? `nf${Buffer.from(draw.bytes(4)).toString('hex')}`;
    this.#made.set(draw, known);
    return known;
  }
}
