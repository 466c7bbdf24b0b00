import { rateKind } from '../../../kinds/limits/all.ts';
import { statedValue } from '../../../parts/fact.ts';
import { perName, type Rate } from '../../../parts/limits.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { parseBody } from '../../exchange/parse-body.ts';
import { claimRefusalIn } from '../../make/claim-refusal-in.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { burst, type Shot } from './burst.ts';
import { type CountedOperation, cheapest, costOf, countedRequest, ratesFor } from './counted.ts';
import { capacityOf, letTooMany, memoryOf, refusedTooEarly } from './rate-model.ts';
import { claimOthers } from './rate-others.ts';
import { attemptsOf, type ReachedRate, ratesFact } from './rate-reached.ts';
import { claimRemaining, claimWait } from './rate-told.ts';

/** The longest that is waited for a rate where the clock cannot be moved, and the most requests that one is tried with. */
const waitMsMost = 15_000;

const requestsMost = 2_500;

/** Rates are reached on one operation: as many as stated get through, the next one is refused, and to wait as told is enough. */
export const rates: Trial = {
  name: 'limits/rates',
  part: 'limits',
  about:
    'Each rate lets through as many as stated and refuses the next; what it tells is true; it counts together and apart what it is stated to.',
  noise: 'loud',
  *cases(model) {
    for (const rate of statedValue(model.spec.limits.rate) ?? []) yield caseOf(model, rate);
  },
};

function caseOf(model: Model, rate: Rate): Case {
  const counted = cheapest(model, rate);
  const of = `${rate.limit} in ${rate.windowMs / 1000} s per ${perName(rate)}${rate.to === undefined ? '' : ` for ${rate.to.join(' and ')}`}`;
  return {
    name: `${counted?.operation.name ?? 'nothing'}, ${of}`,
    facts: [ratesFact, ...conditionFacts(model, 'limit.rate', counted?.operation)],
    async run(session: Session) {
      session.need(counted !== undefined, 'nobody who can be spoken for reaches it before another rate');
      await reach(session, rate, counted);
    },
  };
}

async function reach(session: Session, rate: Rate, counted: CountedOperation): Promise<void> {
  const { model } = session;
  const { operation, caller } = counted;
  const { endpoint } = operation;
  const cost = costOf(rate, operation);
  session.need(endpoint !== undefined && cost > 0, `${operation.name} costs nothing`);
  const most = rateKind(rate.kind).requestsToReach(Math.ceil(capacityOf(rate) / cost));
  session.need(most <= requestsMost, `it takes ${most} requests to reach it`);
  const { clock } = session.run;
  const forgetMs = memoryOf(rate) + 250;
  const isRested = clock.advance !== undefined || forgetMs <= waitMsMost;
  const plan = await countedRequest(session, counted);
  const { code, status = 429 } = refusalFor(model, 'limit.rate', operation) ?? {};
  const rested = isRested ? await session.wait(Math.ceil(forgetMs)) : undefined;
  const shots = await session.do(burst(plan, most, status, rested ? [rested] : []));
  session.need(!isOfQuota(model, operation, shots.value.at(-1)), 'a quota is used up before');
  const reached: ReachedRate = { rate, counted, cost, status, shots };
  claimRoom(session, reached, isRested);
  claimRefusalIn<readonly Shot[]>(session, {
    done: shots,
    when: 'limit.rate',
    operation,
    what: 'more than the rate allows',
    answerIn: (all) => {
      const last = all.at(-1);
      return last && (last.status === status || (code !== undefined && last.text.includes(JSON.stringify(code))))
        ? last
        : undefined;
    },
  });
  claimRemaining(session, reached, ratesFor(model, operation, caller).length);
  if (isRested) await claimOthers(session, reached, plan);
  await claimWait(session, reached, plan, waitMsMost);
  session.need(isRested, `whether it refuses too early is seen after a rest of ${Math.ceil(forgetMs / 1000)} s`);
}

/** Whether a refusal is, or may be, that of a quota. */
function isOfQuota(model: Model, operation: Operation, shot: Shot | undefined): boolean {
  const quotas = statedValue(model.spec.limits.quota) ?? [];
  if (!shot || shot.status < 400 || !quotas.some(({ on }) => on === undefined || namesOperation(on, operation))) return false;
  const code = model.refusals.codeIn({ body: parseBody(shot.text, shot.headers['content-type']) });
  const [quota, rate] = (['limit.quota', 'limit.rate'] as const).map((when) => refusalFor(model, when, operation)?.code);
  return code === quota && code !== rate;
}

function claimRoom(session: Session, { rate, counted, cost, status, shots }: ReachedRate, isRested: boolean): void {
  const capacity = capacityOf(rate);
  const atOnce = capacity === rate.limit ? '' : `, ${capacity} at once`;
  const promised = `${rate.limit} in ${rate.windowMs / 1000} s per ${perName(rate)}${atOnce}, for ${counted.operation.name}`;
  const { at } = rate;
  session.claim({
    fact: ratesFact,
    reason: 'kept',
    at,
    of: [shots],
    judge: (all: readonly Shot[]): Judgement => {
      if (all.some((shot) => shot.status === 0)) return moot('a request had no answer');
      const attempts = attemptsOf(all, { rate, status, cost });
      const flaw = letTooMany(rate, attempts);
      if (flaw) return { promised, seen: flaw.says };
      if (all.at(-1)?.status !== status) return moot('it was not reached');
      // Where windows may have gone by meanwhile, one that was let through too much would not be told either.
      const hadPassed = attempts.map((attempt, at) => (at === attempts.length - 1 ? { ...attempt, isLet: true } : attempt));
      return letTooMany(rate, hadPassed) ? undefined : moot('the requests took too long to tell one more from another window');
    },
  });
  if (!isRested) return;
  session.claim({
    fact: ratesFact,
    reason: 'not earlier',
    at,
    of: [shots],
    judge: (all: readonly Shot[]): Judgement => {
      const attempts = attemptsOf(all, { rate, status, cost });
      const flaw = refusedTooEarly(rate, attempts, (attempts[0]?.fromMs ?? 0) - memoryOf(rate));
      return flaw ? { promised, seen: flaw.says } : undefined;
    },
  });
}
