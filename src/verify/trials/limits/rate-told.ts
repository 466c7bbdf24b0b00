import { statedValue } from '../../../parts/fact.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { retryAfterMs } from '../../exchange/rate-told.ts';
import type { Done } from '../../exchange/step.ts';
import type { Session } from '../../session/session.ts';
import { burst, type Shot } from './burst.ts';
import { memoryOf } from './rate-model.ts';
import { type ReachedRate, ratesFact } from './rate-reached.ts';

/** A refusal says how long to wait; to wait so long is enough, and it is no longer than the rate can ask for. */
export async function claimWait(session: Session, reached: ReachedRate, plan: RequestPlan, waitMsMost: number): Promise<void> {
  const { rate, shots, status } = reached;
  const last = shots.value.at(-1);
  if (last?.status !== status) return;
  const longestMs = memoryOf(rate) + 2_000;
  const judgeLength = (all: readonly Shot[]): Judgement => {
    const end = all.at(-1);
    if (end?.status !== status) return moot('it was not reached');
    const told = retryAfterMs(end);
    const promised = `a wait of ${rate.windowMs / 1000} s at the most, told in Retry-After`;
    if (told === undefined)
      return { promised, seen: `${status} with a Retry-After of ${end.headers['retry-after'] ?? 'nothing'}` };
    return told <= longestMs ? undefined : { promised, seen: `Retry-After of ${told / 1000} s` };
  };
  const isSound = session.claim({ fact: ratesFact, reason: 'Retry-After', at: rate.at, of: [shots], judge: judgeLength });
  const waitMs = retryAfterMs(last);
  if (!isSound || waitMs === undefined || (session.run.clock.advance === undefined && waitMs > waitMsMost)) return;
  const waited = await session.do(waitingAsTold(shots, status));
  const again = await session.do(burst(plan, 1, status, [shots, waited]));
  session.claim({
    fact: ratesFact,
    reason: 'waited',
    at: rate.at,
    of: [shots, again],
    judge: (all: readonly Shot[], [one]: readonly Shot[]): Judgement => {
      const told = all.at(-1)?.headers['retry-after'];
      if (told === undefined || !one || one.status === 0) return moot('it says no time');
      return one.status === status
        ? { promised: `to wait for ${told} s, as Retry-After says, is enough`, seen: `it was answered ${one.status} again` }
        : undefined;
    },
  });
}

/** The step that waits as long as the last answer of a burst says. */
function waitingAsTold(shots: Done<readonly Shot[]>, status: number) {
  return {
    says: 'wait as long as Retry-After says',
    takes: [],
    needs: [shots.step],
    async act(run: Session['run']) {
      // The cast holds: the step of that number is a burst.
      const last = (run.results[shots.step] as readonly Shot[] | undefined)?.at(-1);
      const ms = last?.status === status ? (retryAfterMs(last) ?? 0) : 0;
      await run.clock.wait(ms + 20);
      return ms;
    },
    tell: (ms: number) => `${ms / 1000} s`,
    shell: () => [`sleep ${Math.ceil((retryAfterMs(shots.value.at(-1) ?? { headers: {}, toMs: 0 }) ?? 0) / 1000)}`],
  };
}

/**
 * What is told to be left is really left: of all rates that count an answer where `RateLimit` speaks of them (draft-ietf-httpapi-ratelimit-headers), of the
 * strictest where a header of the document's own does. With enough left, the next request is not refused.
 */
export function claimRemaining(session: Session, { rate, shots, status, cost }: ReachedRate, count: number): void {
  const own = statedValue(session.model.spec.limits.headers)?.remaining?.toLowerCase();
  const name = own ?? 'ratelimit';
  if (cost > 1 || !shots.value.some(({ headers }) => headers[name] !== undefined)) return;
  session.claim({
    fact: ratesFact,
    reason: whatIsLeft,
    at: rate.at,
    of: [shots],
    judge: (all: readonly Shot[]): Judgement => {
      const end = all.at(-1);
      const before = all.at(-2);
      if (end?.status !== status || !before) return moot('it was not reached');
      const told = before.headers[name] ?? '';
      const left = own === undefined ? leftIn(told) : /^\d+$/.test(told) ? [Number(told)] : [];
      if (left.length < (own === undefined ? count : 1)) return moot('it does not speak of all rates');
      return Math.min(...left) >= 1
        ? {
            promised: `what ${own === undefined ? 'RateLimit' : name} says is left: ${told}`,
            seen: `the next was answered ${status}`,
          }
        : undefined;
    },
  });
}

/** The reason of a claim of what is told to be left. */
export const whatIsLeft = 'RateLimit';

/** How much is left of each rate that an answer speaks of. */
function leftIn(told: string): number[] {
  return [...told.matchAll(/"[^"]*"[^,]*?;\s*r=(\d+)/g)].map(([, left]) => Number(left));
}
