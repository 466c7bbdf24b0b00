import { nothing } from './nothing.ts';
import type { Means, Sampler } from './sampler.ts';

/** Makes the shallowest branch of a union, or the first that can be made, and mends a value in the branch that keeps most of it, then makes up least. */
export function chooseBranch(branches: readonly Sampler[], made: 'shallowest' | 'first'): Means {
  let ranked: readonly Sampler[] | undefined;
  const rankedBranches = (): readonly Sampler[] => {
    const ending = branches.filter(({ cost }) => Number.isFinite(cost));
    return made === 'first' ? ending : ending.toSorted((a, b) => a.cost - b.cost);
  };
  return {
    make(ground, path) {
      ranked ??= rankedBranches();
      for (const branch of ranked) {
        const value = branch.make(ground, path);
        if (value !== nothing) return value;
      }
      return nothing;
    },
    complete(given, ground, path) {
      if (typeof given !== 'object' || given === null) return nothing;
      let best: { readonly value: unknown; readonly told: readonly string[]; readonly kept: number } | undefined;
      for (const branch of branches) {
        const told: string[] = [];
        const value = branch.complete(given, { ...ground, sampled: (place) => told.push(place) }, path);
        // A branch that had to make up the whole has kept nothing of what was given.
        if (value === nothing || told.includes(path)) continue;
        const kept = keptOf(given, value);
        if (!best || kept > best.kept || (kept === best.kept && told.length < best.told.length)) best = { value, told, kept };
      }
      if (!best) return nothing;
      for (const place of best.told) ground.sampled(place);
      return best.value;
    },
  };
}

/** How many members of what was given are still there as they were. */
function keptOf(given: object, value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = new Map(Object.entries(value));
  return Object.entries(given).filter(([name, member]) => member !== undefined && members.get(name) === member).length;
}
