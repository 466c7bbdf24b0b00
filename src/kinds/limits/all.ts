import type { Comparison } from '../comparison.ts';
import { bucket } from './bucket.ts';
import { fixed } from './fixed.ts';
import type { RateKind, StatedRate } from './kind.ts';
import { sliding } from './sliding.ts';

/** Every word that a rate's `kind` may be; the first is meant where none is stated. */
export const rateKinds = [sliding, fixed, bucket] as const satisfies readonly [RateKind, ...RateKind[]];

export type RateWord = (typeof rateKinds)[number]['word'];

/** Whether there is a kind of rate of this name. */
export function isRateWord(word: string): word is RateWord {
  return rateKinds.some((kind) => kind.word === word);
}

/** The kind of rate of this name. */
export function rateKind(word: RateWord): RateKind {
  const found = rateKinds.find((kind) => kind.word === word);
  if (!found) throw new Error(`${word} is no kind of rate`);
  return found;
}

/** How a later rate stands to an earlier one; two kinds let through different requests, whatever their numbers. */
export function compareRates(
  before: StatedRate & { readonly kind: RateWord },
  after: StatedRate & { readonly kind: RateWord },
): Comparison {
  return before.kind === after.kind ? rateKind(before.kind).compare(before, after) : 'other';
}
