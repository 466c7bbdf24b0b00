import { perName } from '../../../parts/limits.ts';
import { isSamePerson, type TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { retryAfterMs } from '../../exchange/rate-told.ts';
import type { Done } from '../../exchange/step.ts';
import type { Session } from '../../session/session.ts';
import { burst, type Shot } from './burst.ts';
import { applies, askersOf, isApart, ratesFor, roomFor } from './counted.ts';
import { letTooMany } from './rate-model.ts';
import { attemptsOf, type ReachedRate, ratesFact } from './rate-reached.ts';

/**
 * Right after somebody has used a rate up, others ask once: those whom it counts apart are let through, those whom it counts
 * together with the first are not, and those whom it does not count at all do not feel it.
 */
export async function claimOthers(session: Session, reached: ReachedRate, plan: RequestPlan): Promise<void> {
  const { rate, counted, shots, status } = reached;
  if (counted.caller === undefined || shots.value.at(-1)?.status !== status) return;
  const others = othersOf(session, reached, counted.caller);
  if (others.together) await claimTogether(session, reached, plan, others.together);
  if (others.apart) await claimApart(session, reached, plan, others.apart);
  if (others.outside && rate.per !== 'caller' && rate.per !== 'user' && rate.per !== 'value')
    await claimApart(session, reached, plan, others.outside);
  else if (others.outside) await claimUncounted(session, reached, plan, others.outside);
}

interface Others {
  readonly apart: TrialCaller | undefined;
  readonly together: TrialCaller | undefined;
  readonly outside: TrialCaller | undefined;
}

function othersOf({ model }: Session, { rate, counted }: ReachedRate, caller: TrialCaller): Others {
  const { operation } = counted;
  const others = askersOf(model, operation).filter((one): one is TrialCaller => one !== undefined && !isSamePerson(one, caller));
  const inside = others.filter((one) => applies(model, rate, operation, one) === 'yes');
  const areApart = (one: TrialCaller) => isApart(model, rate, operation, one, caller);
  // What another rate counts as well would answer in its stead.
  const isFree = (one: TrialCaller) =>
    ratesFor(model, operation, one).every((other) => other === rate || isApart(model, other, operation, one, caller) === true);
  return {
    apart: inside.find((one) => areApart(one) === true && isFree(one)),
    together: inside.find((one) => areApart(one) === false && isFree(one)),
    outside: others.find((one) => applies(model, rate, operation, one) === 'no' && isFree(one)),
  };
}

async function claimApart(
  session: Session,
  { rate, shots, status }: ReachedRate,
  plan: RequestPlan,
  other: TrialCaller,
): Promise<void> {
  const own = await session.do(burst({ ...plan, caller: other }, 1, status, [shots]));
  session.claim({
    fact: ratesFact,
    reason: 'apart',
    at: rate.at,
    of: [shots, own],
    judge: (all: readonly Shot[], [one]: readonly Shot[]): Judgement => {
      if (all.at(-1)?.status !== status || !one || one.status === 0) return moot('it was not reached');
      return one.status === status
        ? {
            promised: `it counts per ${perName(rate)}${rate.to === undefined ? '' : ` for ${rate.to.join(' and ')}`}`,
            seen: `${other.name} was refused for what another has used`,
          }
        : undefined;
    },
  });
}

async function claimTogether(
  session: Session,
  { rate, shots, status, cost }: ReachedRate,
  plan: RequestPlan,
  other: TrialCaller,
): Promise<void> {
  const own = await session.do(burst({ ...plan, caller: other }, 1, status, [shots]));
  session.claim({
    fact: ratesFact,
    reason: 'together',
    at: rate.at,
    of: [shots, own] as Done<readonly Shot[]>[],
    judge: (...[all = [], one = []]: readonly (readonly Shot[])[]): Judgement => {
      if ([...all, ...one].some((shot) => shot.status === 0) || all.at(-1)?.status !== status) return moot('it was not reached');
      const [end, next] = [all.at(-1), one[0]];
      if (!end || !next || next.status === status) return undefined;
      const flaw = letTooMany(rate, attemptsOf([...all, ...one], { rate, status, cost }));
      // Windows one after the other may have changed in between, unless the first was told to wait for longer than that.
      const isSame = next.toMs - end.fromMs < (retryAfterMs(end) ?? 0) - 1_000;
      const seen =
        flaw?.says ?? `${other.name} was let through while another was told to wait for ${end.headers['retry-after']} s`;
      return flaw || isSame ? { promised: `it counts per ${perName(rate)}`, seen } : moot('its window may have ended in between');
    },
  });
}

/** Whom a rate does not count gets through more than it allows. */
async function claimUncounted(
  session: Session,
  { rate, counted, shots, status }: ReachedRate,
  plan: RequestPlan,
  other: TrialCaller,
): Promise<void> {
  const most = Math.floor(roomFor(rate, counted.operation)) + 1;
  const isRoomy = ratesFor(session.model, counted.operation, other).every((one) => roomFor(one, counted.operation) > most);
  if (!isRoomy) return;
  const own = await session.do(burst({ ...plan, caller: other }, most, status, [shots]));
  session.claim({
    fact: ratesFact,
    reason: 'for some alone',
    at: rate.at,
    of: [own],
    judge: (all: readonly Shot[]): Judgement =>
      all.at(-1)?.status === status
        ? { promised: `it counts ${rate.to?.join(' and ')} alone`, seen: `${other.name} was refused after ${all.length - 1}` }
        : undefined,
  });
}
