/** Chance that a seed repeats. */
export interface Chance {
  /** From 0 up to and without `below`. */
  below(below: number): number;
  /** Whether something happens that happens so often in a hundred. */
  percent(share: number): boolean;
  one<T>(of: readonly T[]): T | undefined;
  /** One of several words, each as often as its weight says. */
  weighed<T extends string>(weights: Readonly<Record<T, number>>): T;
}

export function seeded(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (most: number) => Math.floor(next() * most);
  return {
    below,
    percent: (share) => next() * 100 < share,
    one: (of) => of[below(of.length)],
    weighed(weights) {
      // The keys of a record of words are those words.
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let rest = below(entries.reduce((sum, [, weight]) => sum + weight, 0));
      const found = entries.find(([, weight]) => {
        rest -= weight;
        return rest < 0;
      });
      return (found ?? entries[0]!)[0];
    },
  };
}
