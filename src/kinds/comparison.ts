/**
 * How the second of two statements stands to the first, for those on the other side of the interface: it asks more of them or
 * gives them less (tighter), asks less or gives more (looser), says the same, or is another thing altogether.
 */
export type Comparison = 'same' | 'tighter' | 'looser' | 'other';

/** What several comparisons come to: one direction where all that differ agree on it. */
export function together(comparisons: Iterable<Comparison>): Comparison {
  const differing = new Set([...comparisons].filter((one) => one !== 'same'));
  const [only = 'same'] = differing;
  return differing.size > 1 ? 'other' : only;
}

/** Two values between which there is nothing: they are the same, or one is another thing. */
export function sameOrOther(one: unknown, other: unknown): Comparison {
  return one === other ? 'same' : 'other';
}

/** Two sets of which each word lets through more: a part of the first is tighter. */
export function comparedSets(one: readonly string[], other: readonly string[]): Comparison {
  const isWithin = one.every((word) => other.includes(word));
  const isAround = other.every((word) => one.includes(word));
  if (isWithin) return isAround ? 'same' : 'looser';
  return isAround ? 'tighter' : 'other';
}
