/**
 * The candidate that a misspelt word most likely means, or undefined where none is near. Nearness is the Damerau-Levenshtein
 * distance (swapped neighbours count once), at most a third of the word.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length === 0 || word.length > longestWord) return undefined;
  const lower = word.toLowerCase();
  let best: string | undefined;
  let least = Math.max(1, Math.min(3, Math.floor(word.length / 3))) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue;
    const away = distance(lower, candidate.toLowerCase(), least);
    if (away < least) {
      best = candidate;
      least = away;
      if (away === 0) break;
    }
  }
  return best;
}

const longestWord = 80;

/** The distance of two words, or `limit` where it is that much or more. */
function distance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? limit) + 1, (row[j - 1] ?? limit) + 1, (last[j - 1] ?? limit) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (before[j - 2] ?? limit) + 1);
      row.push(cost);
      if (cost < smallest) smallest = cost;
    }
    if (smallest >= limit) return limit;
    before = last;
    last = row;
  }
  return last[b.length] ?? limit;
}

/** The letters and digits of a name, in lower case: `next_cursor` and `nextCursor` are one. */
export function plainName(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}
