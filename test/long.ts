/**
 * What is tried at length waits for `npm run test:long`, which runs every test file that imports this one. `npm test` tries the
 * same laws less often, and one of each sort of case.
 */

/** Whether this is the long run. */
export const isLong = process.env.NINEFOLD_TEST_LONG !== undefined;

/** How often something is tried: now, and in the long run. */
export function times(now: number, long: number): number {
  return isLong ? long : now;
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
