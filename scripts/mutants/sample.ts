/** So many of a list, drawn without putting back; the same seed draws the same, whatever the order of the draw is used for. */
export function drawn<T>(all: readonly T[], count: number, seed: number): T[] {
  const left = [...all];
  const chance = chanceOf(seed);
  const taken: T[] = [];
  while (taken.length < count && left.length > 0) taken.push(...left.splice(Math.floor(chance() * left.length), 1));
  return taken;
}

/** Numbers from 0 up to 1, the same ones for the same seed (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
