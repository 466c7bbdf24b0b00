/**
 * How a later statement stands to an earlier one of the same thing, for those who keep within the earlier: `looser` lets all of
 * them through and more, `tighter` lets through some of them and nobody else, `other` refuses some of them and lets others through.
 */
export type Comparison = 'same' | 'tighter' | 'looser' | 'other';

/** Compares two statements by whether whatever one of them lets through, the other does too. */
export function compareBy<Stated>(
  before: Stated,
  after: Stated,
  isWithin: (inner: Stated, outer: Stated) => boolean,
): Comparison {
  const isLooser = isWithin(before, after);
  const isTighter = isWithin(after, before);
  if (isLooser) return isTighter ? 'same' : 'looser';
  return isTighter ? 'tighter' : 'other';
}

/** What several comparisons of parts come to for the whole: parts that differ in two directions make it another one. */
export function together(parts: readonly Comparison[]): Comparison {
  const different = new Set(parts.filter((part) => part !== 'same'));
  const [only = 'same'] = different;
  return different.size > 1 ? 'other' : only;
}
