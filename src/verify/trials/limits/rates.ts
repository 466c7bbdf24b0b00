import { rateKind } from '../../../kinds/limits/all.ts';
import { wholeOrder } from '../../../parts/errors.ts';
import { statedValue } from '../../../parts/fact.ts';
import { perName, type Rate } from '../../../parts/limits.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../../../parts/operations.ts';
import { rowLimitsOf } from '../../../parts/row-limits.ts';
import { isSamePerson, type TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { retryAfterMs } from '../../exchange/lanes.ts';
import { parseBody } from '../../exchange/parse-body.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { claimRefusalIn } from '../../make/claim-refusal-in.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import {
  applies,
  askersOf,
  type CountedOperation,
  capacityOf,
  cheapest,
  costOf,
  countedRequest,
  isApart,
  letTooMany,
  memoryOf,
  ratesFor,
  refusedTooEarly,
  roomFor,
} from './counted.ts';
import { attemptsOf, burst, claimRemaining, claimWait, type ReachedRate, ratesFact, type Shot } from './rate-told.ts';

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
  const plan = await burstRequest(session, rate, counted);
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

/**
 * What is sent until a rate refuses it: a request that is done; where fewer may be done than the rate lets through, and what is refused
 * later counts in it too, one whose body is refused. @throws {Untestable}
 */
async function burstRequest(session: Session, rate: Rate, counted: CountedOperation): Promise<RequestPlan> {
  const { model } = session;
  const plan = await countedRequest(session, counted);
  const order = statedValue(model.spec.errors.order);
  const steps = order && wholeOrder(order);
  const isCounted = steps !== undefined && steps.indexOf('rates') < Math.min(steps.indexOf('body'), steps.indexOf('request'));
  if (!plan.body || !isCounted || (rate.uncounted ?? []).length > 0 || !isScarce(model, counted.operation)) return plan;
  // A list is no row, whatever its fields.
  const refused: RequestPlan = { ...plan, body: { type: 'application/json', value: [] } };
  const { status } = (await session.send(refused)).value;
  const ofRate = refusalFor(model, 'limit.rate', counted.operation)?.status ?? 429;
  return status >= 400 && status < 500 && status !== ofRate ? refused : plan;
}

/** Whether a quota counts an operation, or only so many rows may be made by it: both are refused under one condition. */
function isScarce({ spec }: Model, operation: Operation): boolean {
  const isQuota = (statedValue(spec.limits.quota) ?? []).some(({ on }) => on === undefined || namesOperation(on, operation));
  const does = operation.endpoint && statedValue(operation.endpoint.does);
  return isQuota || rowLimitsOf(spec, resourceOfEffect(does) ?? '').length > 0;
}

/** Whether a refusal is, or may be, that of a quota. */
function isOfQuota(model: Model, operation: Operation, shot: Shot | undefined): boolean {
  if (!shot || shot.status < 400 || !isScarce(model, operation)) return false;
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

/**
 * Right after somebody has used a rate up, others ask once: those whom it counts apart are let through, those whom it counts
 * together with the first are not, and those whom it does not count at all do not feel it.
 */
async function claimOthers(session: Session, reached: ReachedRate, plan: RequestPlan): Promise<void> {
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

/** A rate that lets so many times as much through is not used up along with one. */
const roomyTimes = 10;

function othersOf({ model }: Session, { rate, counted }: ReachedRate, caller: TrialCaller): Others {
  const { operation } = counted;
  const others = askersOf(model, operation).filter((one): one is TrialCaller => one !== undefined && !isSamePerson(one, caller));
  const inside = others.filter((one) => applies(model, rate, operation, one) === 'yes');
  const areApart = (one: TrialCaller) => isApart(model, rate, operation, one, caller);
  // What another rate counts as well would answer in its stead.
  const isFree = (one: TrialCaller) =>
    ratesFor(model, operation, one).every(
      (other) =>
        other === rate || other.limit >= roomyTimes * rate.limit || isApart(model, other, operation, one, caller) === true,
    );
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
