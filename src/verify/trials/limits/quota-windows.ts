import { type CalendarWindow, compileCalendar, type TimeWindow } from '../../../kinds/limits/calendar.ts';
import type { Quota } from '../../../parts/limits.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { retryAfterMs } from '../../exchange/rate-told.ts';
import type { Done, Step } from '../../exchange/step.ts';
import { endsWithin } from '../../make/ends.ts';
import type { Session } from '../../session/session.ts';
import { quotasFact, type Using, useOnce } from './quota-using.ts';

/** How far from the end of a window what is asked is sure to lie on its side of it. */
const nearMs = 30_000;
/** The clocks may be so far apart, and a wait is told in whole seconds. */
const toleranceMs = 3_000;

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
function canPass(session: Session, { window }: Quota, count: number): boolean {
  const spanMs = longestMs[window];
  if (session.run.clock.advance === undefined || spanMs === undefined) return false;
  return !endsWithin(session.model, session, count * spanMs + 2 * nearMs);
}

/** The step that lets time go by up to the end of the window, and so much further, which may be less than nothing. */
function passing(quota: Quota, after: readonly Done<unknown>[], furtherMs: number): Step<number> {
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

/** A quota that is used up stays so until its window ends, says so, and begins anew with the next. */
export async function claimWindow(session: Session, using: Using, last: Done<TrialExchange>): Promise<void> {
  const { quota, isUsedUp } = using;
  const ends = `the ${quota.window} ends by the clocks of ${quota.zone}`;
  const common = { fact: quotasFact, at: quota.at, tries: 1 };
  session.claim({
    ...common,
    reason: 'Retry-After',
    of: [last],
    judge: (end: TrialExchange): Judgement => {
      const told = isUsedUp(end) ? retryAfterMs(end) : undefined;
      if (told === undefined) return moot('it says no time');
      const { endMs } = windowAt(quota, end.toMs);
      const isTrue = told >= endMs - end.toMs - toleranceMs && told <= endMs - end.fromMs + toleranceMs;
      const left = `${Math.round((endMs - end.toMs) / 1000)} s`;
      return isTrue ? undefined : { promised: `Retry-After until ${ends}, in ${left}`, seen: `${told / 1000} s` };
    },
  });
  if (!canPass(session, quota, 1)) return;
  const before = await session.do(passing(quota, [last], -nearMs));
  const late = await useOnce(session, using);
  session.claim({
    ...common,
    reason: 'up to its end',
    of: [last, before, late] as const,
    judge: (end: TrialExchange, _waited: number, one: TrialExchange): Judgement => {
      const isWithin = windowAt(quota, end.fromMs).endMs === windowAt(quota, one.toMs + toleranceMs).endMs;
      if (!isUsedUp(end) || !isWithin) return moot('it was not used up in that window');
      return isDone(one)
        ? { promised: `used up until ${ends}`, seen: `it was let through ${nearMs / 1000} s before` }
        : undefined;
    },
  });
  const after = await session.do(passing(quota, [last], nearMs));
  const anew = await useOnce(session, using);
  session.claim({
    ...common,
    reason: 'begins anew',
    of: [last, after, anew] as const,
    judge: (end: TrialExchange, _waited: number, one: TrialExchange): Judgement => {
      if (!isUsedUp(end) || windowAt(quota, end.toMs).endMs > one.fromMs - toleranceMs) return moot('it was not used up before');
      return isUsedUp(one)
        ? { promised: `it begins anew when ${ends}`, seen: `it was answered ${one.status} after that` }
        : undefined;
    },
  });
}
