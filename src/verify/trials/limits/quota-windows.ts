import { type CalendarWindow, compileCalendar, type TimeWindow } from '../../../kinds/limits/calendar.ts';
import type { Quota } from '../../../parts/limits.ts';
import type { Done, Step } from '../../exchange/step.ts';
import { endsWithin } from '../../make/ends.ts';
import type { Session } from '../../session/session.ts';

/** How far from the end of a window what is asked is sure to lie on its side of it. */
export const nearMs = 30_000;
/** The longest that a window can be. */
const longestMs: Readonly<Record<string, number>> = {
  hour: 3_600_000,
  day: 25 * 3_600_000,
  week: 169 * 3_600_000,
  month: 31 * 86_400_000 + 3_600_000,
  year: 366 * 86_400_000,
};

/** Goes on to a window of which nothing is used yet, where the clock can be moved; returns whether it did. */
export async function beginWindow(session: Session, quota: Quota): Promise<boolean> {
  if (!canPass(session, quota, 1)) return false;
  await session.do(passing(quota, [], nearMs));
  return true;
}

/** Whether the clock can be moved past so many windows, and everybody can still be spoken for then. */
export function canPass(session: Session, { window }: Quota, count: number): boolean {
  const spanMs = longestMs[window];
  if (session.run.clock.advance === undefined || spanMs === undefined) return false;
  return !endsWithin(session.model, session, count * spanMs + 2 * nearMs);
}

/** The step that lets time go by up to the end of the window, and so much further, which may be less than nothing. */
export function passing(quota: Quota, after: readonly Done<unknown>[], furtherMs: number): Step<number> {
  return {
    says: `wait until ${Math.abs(furtherMs) / 1000} s ${furtherMs < 0 ? 'before' : 'after'} the end of the ${quota.window}`,
    takes: [],
    needs: after.map(({ step }) => step),
    async act(run) {
      const nowMs = run.clock.toService(Date.now());
      const ms = Math.max(0, windowAt(quota, nowMs).endMs + furtherMs - nowMs);
      await run.clock.wait(ms);
      return ms;
    },
    tell: (ms) => `${Math.round(ms / 1000)} s`,
    shell: () => [
      `# Wait until ${Math.abs(furtherMs) / 1000} s ${furtherMs < 0 ? 'before' : 'after'} the end of the ${quota.window}.`,
    ],
  };
}

/** The window of a quota that a time lies in. */
export function windowAt({ window, zone }: Quota, nowMs: number): TimeWindow {
  // The cast holds: `check` refuses a document with any other word, and one that is none was left out above.
  return compileCalendar(window as CalendarWindow, zone)(nowMs);
}
