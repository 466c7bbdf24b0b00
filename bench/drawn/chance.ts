/** Numbers that look like chance and are the same for a seed. */
export interface Chance {
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  one<T>(things: readonly T[]): T;
  shuffled<T>(things: readonly T[]): T[];
}

/** The chance of a seed: mulberry32, whose whole state is one 32-bit number. */
export function chanceOf(seed: number): Chance {
  // Seeds that lie side by side begin far apart.
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  const shuffled = <T>(things: readonly T[]): T[] => {
    const order = [...things];
    for (let at = order.length - 1; at > 0; at--) {
      const other = between(0, at);
      [order[at], order[other]] = [order[other]!, order[at]!];
    }
    return order;
  };
  return { between, one: (things) => things[between(0, things.length - 1)]!, shuffled };
}
