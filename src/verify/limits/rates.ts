import { statedValue } from '../../parts/fact.ts';
import type { Rate } from '../../parts/limits.ts';
import type { Operation } from '../../parts/operations.ts';
import { callersFor } from '../make/callers-for.ts';
import { ready } from '../make/readied.ts';
import type { Caller } from '../model/callers.ts';
import type { FactName } from '../model/facts.ts';
import type { Model } from '../model/model.ts';
import { refusalFor } from '../model/refused-as.ts';
import { type Judgement, moot } from '../script/claim.ts';
import type { RequestPlan } from '../script/plan.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Case, Trial } from '../trial.ts';
import { burst, retryAfterMs, type Shot } from './burst.ts';
import { cheapest, costOf } from './counted.ts';
import { type Attempt, capacityOf, letTooMany, memoryOf, refusedTooEarly } from './rate-model.ts';

export const ratesFact: FactName = { kind: 'rate limits', subject: 'service' };

/** The longest that is waited for a rate where the clock cannot be moved, and the most requests that one is tried with. */
const waitMsMost = 15_000;

const requestsMost = 2_500;

/** Rates are reached on one operation: as many as stated get through, the next one is refused, and to wait as told is enough. */
export const rates: Trial = {
  name: 'limits/rates',
  part: 'limits',
  about:
    'Each rate lets through as many as stated and refuses the next; Retry-After is true; callers are counted apart where stated.',
  noise: 'loud',
  *cases(model) {
    for (const rate of statedValue(model.spec.limits.rate) ?? []) {
      if (rate.to !== undefined) continue;
      const operation = cheapest(model, rate);
      if (operation) yield caseOf(model, rate, operation);
    }
  },
};

function caseOf(model: Model, rate: Rate, operation: Operation): Case {
  return {
    name: `${operation.name}, ${rate.limit} in ${rate.windowMs / 1000} s per ${rate.per}`,
    facts: [ratesFact],
    async run(session: Session) {
      const { endpoint } = operation;
      session.need(endpoint !== undefined, `no caller reaches ${operation.name}`);
      const cost = costOf(rate, operation);
      session.need(cost > 0, `${operation.name} costs nothing`);
      // A bucket is refilled while it is emptied.
      const room = Math.ceil(capacityOf(rate) / cost);
      const most = room + 2 + (rate.kind === 'bucket' ? room : Math.ceil(room / 50));
      session.need(most <= requestsMost, `it takes ${most} requests to reach it`);
      const { clock } = session.run;
      const forgetMs = memoryOf(rate) + 250;
      const mayWait = clock.advance !== undefined || forgetMs <= waitMsMost;
      const plan = await planFor(session, operation);
      const [caller] = [plan.caller];
      const refusal = refusalFor(model, 'limit.rate', operation);
      const status = refusal?.status ?? 429;
      const rested = mayWait ? await session.wait(Math.ceil(forgetMs)) : undefined;
      const shots = await session.do(burst(plan, most, status, rested ? [rested] : []));
      claimRoom(session, rate, operation, { shots, cost, status, isRested: mayWait });
      await claimWait(session, rate, { plan, shots, status });
      const other = otherCaller(model, operation, caller);
      if (rate.per === 'caller' && other && mayWait && !model.access.isPublic(operation))
        await claimApart(session, rate, { plan, most, status, other });
    },
  };
}

async function planFor(session: Session, operation: Operation): Promise<RequestPlan> {
  const { endpoint } = operation;
  session.need(endpoint !== undefined, `no caller reaches ${operation.name}`);
  const { model } = session;
  const [caller] = model.access.isPublic(operation) ? [undefined] : callersFor(session, endpoint).filter((one) => one.credential);
  return (await ready(session, endpoint, { caller })).request;
}

function attemptsOf(shots: readonly Shot[], status: number, cost: number): Attempt[] {
  return shots.map((shot) => ({ fromMs: shot.fromMs, toMs: shot.toMs, cost, isLet: shot.status !== status }));
}

function claimRoom(
  session: Session,
  rate: Rate,
  operation: Operation,
  given: { readonly shots: Done<readonly Shot[]>; readonly cost: number; readonly status: number; readonly isRested: boolean },
): void {
  const { shots, cost, status, isRested } = given;
  const promised = `${rate.limit} in ${rate.windowMs / 1000} s per ${rate.per}${rate.burst === undefined ? '' : `, ${rate.burst} at once`}, for ${operation.name}`;
  const at = rate.at;
  session.claim({
    ...{ fact: ratesFact, reason: 'kept', at, of: [shots] },
    judge: (all: readonly Shot[]): Judgement => {
      if (all.some((shot) => shot.status === 0)) return moot('a request had no answer');
      const flaw = letTooMany(rate, attemptsOf(all, status, cost));
      if (flaw) return { promised, seen: flaw.says };
      return all.at(-1)?.status === status ? undefined : moot('it was not reached');
    },
  });
  if (!isRested) return;
  session.claim({
    ...{ fact: ratesFact, reason: 'not earlier', at, of: [shots] },
    judge: (all: readonly Shot[]): Judgement => {
      const attempts = attemptsOf(all, status, cost);
      const flaw = refusedTooEarly(rate, attempts, (attempts[0]?.fromMs ?? 0) - memoryOf(rate));
      return flaw ? { promised, seen: flaw.says } : undefined;
    },
  });
}

/** To wait as long as an answer says is enough, and no longer than the rate can ask for. */
async function claimWait(
  session: Session,
  rate: Rate,
  { plan, shots, status }: { readonly plan: RequestPlan; readonly shots: Done<readonly Shot[]>; readonly status: number },
): Promise<void> {
  const last = shots.value.at(-1);
  const waitMs = last?.status === status ? retryAfterMs(last) : undefined;
  if (waitMs === undefined) return;
  const longestMs = memoryOf(rate) + 2_000;
  const judgeLength = (all: readonly Shot[]): Judgement => {
    const end = all.at(-1);
    const told = end?.status === status ? retryAfterMs(end) : undefined;
    if (told === undefined) return moot('it says no time');
    return told <= longestMs
      ? undefined
      : { promised: `a wait of ${rate.windowMs / 1000} s at the most`, seen: `Retry-After of ${told / 1000} s` };
  };
  const isSound = session.claim({ fact: ratesFact, reason: 'Retry-After', at: rate.at, of: [shots], judge: judgeLength });
  if (!isSound || (session.run.clock.advance === undefined && waitMs > waitMsMost)) return;
  const waited = await session.do(waitingAsTold(shots, status));
  const again = await session.do(burst(plan, 1, status, [shots, waited]));
  session.claim({
    ...{ fact: ratesFact, reason: 'waited', at: rate.at, of: [shots, again] },
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

function otherCaller(model: Model, operation: Operation, caller: Caller | undefined): Caller | undefined {
  return model.callers.find((one) => one !== caller && one.credential && model.access.allows(operation, one) !== 'no');
}

/** Callers are counted apart: what one has used up leaves the other its own. */
async function claimApart(
  session: Session,
  rate: Rate,
  given: { readonly plan: RequestPlan; readonly most: number; readonly status: number; readonly other: Caller },
): Promise<void> {
  const { plan, most, status, other } = given;
  const rested = await session.wait(Math.ceil(memoryOf(rate) + 250));
  const used = await session.do(burst(plan, most, status, [rested]));
  const own = await session.do(burst({ ...plan, caller: other }, 1, status, [used]));
  session.claim({
    ...{ fact: ratesFact, reason: 'apart', at: rate.at, of: [used, own] },
    judge: (all: readonly Shot[], [one]: readonly Shot[]): Judgement => {
      if (all.at(-1)?.status !== status || !one || one.status === 0) return moot('it was not reached');
      return one.status === status
        ? { promised: 'each caller is counted by itself', seen: `${other.name} was refused for what another has used` }
        : undefined;
    },
  });
}
