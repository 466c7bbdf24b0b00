import type { PlannedCase } from './asked.ts';
import { factKey } from './exchange/facts.ts';

/**
 * Cases in the order of their worth, so that a run that ends early has looked at as much as it could: first one case for each fact of
 * each trial, those first that show the most that nothing before them shows; then a second one for each, and so on. Parts take turns.
 */
export function inOrderOfWorth(cases: readonly PlannedCase[]): PlannedCase[] {
  const known = new Set<string>();
  const times = new Map<string, number>();
  const ranked = cases.map((planned) => {
    const keys = planned.testCase.facts.map(factKey);
    const fresh = keys.filter((key) => !known.has(key)).length;
    for (const key of keys) known.add(key);
    const seen = keys.map((key) => `${planned.trial.name}\n${key}`);
    const wave = Math.min(...seen.map((key) => times.get(key) ?? 0));
    for (const key of seen) times.set(key, (times.get(key) ?? 0) + 1);
    return { planned, fresh, wave: Number.isFinite(wave) ? wave : 0 };
  });
  const waves = [...Map.groupBy(ranked, ({ wave }) => wave)].sort(([one], [other]) => one - other);
  return waves.flatMap(([, wave]) => {
    const byWorth = wave.sort((one, other) => other.fresh - one.fresh);
    return takingTurns([...Map.groupBy(byWorth, ({ planned }) => planned.trial.part).values()]).map(({ planned }) => planned);
  });
}

/** The first of each list, then the second of each, and so on. */
function takingTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}
