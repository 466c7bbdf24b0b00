import type { Ledgering, Suspicion } from './session/session.ts';
import type { Tally } from './tally.ts';

/** What a session tells, passed on to the course of its case, and what looked broken to it. */
export function gathering(course: ReturnType<Tally['courseOf']>): {
  readonly ledgering: Ledgering;
  readonly found: readonly Suspicion[];
} {
  const found: Suspicion[] = [];
  const ledgering: Ledgering = {
    held: (claim) => course.held(claim),
    moot: ({ fact }, why) => course.moot(fact, why),
    suspected: (suspicion) => {
      course.looked(suspicion.claim.fact);
      found.push(suspicion);
    },
  };
  return { ledgering, found };
}
