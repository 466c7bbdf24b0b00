/**
 * What is tried at length waits for `npm run test:long`, which runs every test file that imports this one. `npm test` tries the
 * same laws less often, and one of each sort of case; `npm run test:whole` tries what takes minutes each as often as there are cases.
 */

/** Whether this is the long run, which continuous integration waits for. */
export const isLong = process.env.NINEFOLD_TEST_LONG !== undefined;

/** Whether all is tried that there is: what the long run is asked for by name, and `npm run test:whole`. */
export const isWhole = process.env.NINEFOLD_TEST_LONG === 'whole';

/** How often something is tried: now, in the long run, and where all is tried. */
export function times(now: number, long: number, whole = long): number {
  return isWhole ? whole : isLong ? long : now;
}

/** Of cases that take seconds each every so manyth, from the first on; all where all is tried. */
export function share<T>(cases: readonly T[], every: number): readonly T[] {
  return isWhole ? cases : cases.filter((_case, at) => at % every === 0);
}

/** The first case about each subject; in the long run every case. */
export function oneOfEach<T>(cases: readonly T[], subjectOf: (one: T) => string): readonly T[] {
  if (isLong) return cases;
  const seen = new Set<string>();
  return cases.filter((one) => {
    const subject = subjectOf(one);
    if (seen.has(subject)) return false;
    seen.add(subject);
    return true;
  });
}
