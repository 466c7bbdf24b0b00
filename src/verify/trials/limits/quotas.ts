import { statedValue } from '../../../parts/fact.ts';
import { perName, type Quota } from '../../../parts/limits.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import { isSamePerson, type TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { retryAfterMs } from '../../exchange/lanes.ts';
import type { Done } from '../../exchange/step.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts, isRefusal, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { countsCaller, fewerRows, isApart } from './counted.ts';
import { mayUseAgain, type Using, useOnce, usesIn, useUp } from './quota-uses.ts';
import { beginWindow, canPass, nearMs, passing, windowAt } from './quota-windows.ts';

/** The largest quota that is used up. */
const usesMost = 120;

/** Quotas are used up: not one more gets through, whoever is counted apart has what is theirs, and a new window begins anew. */
export const quotas: Trial = {
  name: 'limits/quotas',
  part: 'limits',
  about: 'No more succeed than the quota allows, up to the end of its window; callers are counted apart or together as stated.',
  noise: 'loud',
  *cases(model) {
    for (const quota of statedValue(model.spec.limits.quota) ?? []) {
      const operation = model.operations.find(
        (one) =>
          one.endpoint &&
          statedValue(one.endpoint.does)?.verb !== 'list' &&
          (quota.on === undefined || namesOperation(quota.on, one)),
      );
      if (operation) yield caseOf(model, quota, operation);
    }
  },
};

function caseOf(model: Model, quota: Quota, operation: Operation): Case {
  const promised = `${quota.limit} a ${quota.window} per ${perName(quota)} for ${operation.name}`;
  return {
    name: `${operation.name}, ${quota.limit} a ${quota.window} per ${perName(quota)}`,
    facts: [quotasFact, ...conditionFacts(model, 'limit.quota', operation)],
    async run(session: Session) {
      session.need(operation.endpoint !== undefined, `no caller reaches ${operation.name}`);
      session.need(quota.limit <= usesMost, `it takes ${quota.limit} successful requests to use it up`);
      const callers = model.callers.filter(
        (one) =>
          one.credential && model.access.allows(operation, one) !== 'no' && countsCaller(model, quota, operation, one) === 'yes',
      );
      const caller = callers.at(-1);
      session.need(caller !== undefined, 'nobody is counted');
      const refusal = refusalFor(model, 'limit.quota', operation);
      const isUsedUp = (seen: TrialExchange) => (refusal ? isRefusal(model, seen, refusal) : seen.status === 429);
      const crowded = fewerRows(model, quota, operation);
      const using: Using = { quota, operation, caller, isUsedUp, promised, crowded };
      const isNew = await beginWindow(session, quota);
      const others = callers.filter(
        (one) => !isSamePerson(one, caller) && isApart(model, quota, operation, one, caller) !== undefined,
      );
      const other = isNew ? await withRoom(session, using, others) : undefined;
      const uses = await useUp(session, using);
      claimKept(session, using, { uses, isNew });
      const last = uses.at(-1);
      // Of another window it is not known what others have used.
      session.need(isNew, 'when it begins anew, and for whom, is seen where the clock can be moved past its window');
      if (!last || !isUsedUp(last.value)) return;
      if (other) await claimOther(session, using, last, other);
      await claimWindow(session, using, last);
    },
  };
}

/**
 * The first of these who is not refused for the rows that it has already, where that is refused in the same way: one use of its own shows it.
 * Of callers who are counted together nobody's use is one too many.
 */
async function withRoom(session: Session, using: Using, others: readonly TrialCaller[]): Promise<TrialCaller | undefined> {
  const { quota, operation, crowded, caller } = using;
  for (const other of others) {
    const areApart = isApart(session.model, quota, operation, caller, other) === true;
    if (crowded.length === 0 || !areApart || (await mayUseAgain(session, { ...using, caller: other }))) return other;
  }
  return undefined;
}

function claimKept(
  session: Session,
  using: Using,
  { uses, isNew }: { readonly uses: readonly Done<TrialExchange>[]; readonly isNew: boolean },
): void {
  const { quota, isUsedUp, promised } = using;
  const { at } = quota;
  session.claim({
    fact: quotasFact,
    reason: 'kept',
    at,
    of: uses,
    tries: 1,
    judge: (...all: readonly TrialExchange[]): Judgement => {
      const succeeded = usesIn(all, using).filter(isDone).length;
      if (succeeded > quota.limit && !isNew && mayStraddle(all)) return moot('a window may have ended in between');
      if (succeeded > quota.limit) return { promised, seen: `${succeeded} succeeded` };
      return isUsedUp(all.at(-1) as TrialExchange) ? undefined : moot('it was refused for something else');
    },
  });
  if (!isNew) return;
  claimUsedUpAs(session, using, uses);
  session.claim({
    fact: quotasFact,
    reason: 'not earlier',
    at,
    of: uses,
    tries: 1,
    judge: (...all: readonly TrialExchange[]): Judgement => {
      const tried = usesIn(all, using);
      const succeeded = tried.filter(isDone).length;
      if (!isUsedUp(all.at(-1) as TrialExchange)) return moot('it was not used up');
      if (succeeded >= quota.limit) return undefined;
      if (succeeded === 0 && using.crowded.length > 0) return moot('as many rows may have been there as there may be');
      const refused = tried.length - 1 - succeeded;
      const beside = refused > 0 ? `, and ${refused} that were refused` : '';
      return { promised, seen: `it was used up after ${succeeded}${beside}, in a new window` };
    },
  });
}

/** What is refused after as many successes as stated is refused for that, by the stated code. */
function claimUsedUpAs(session: Session, using: Using, uses: readonly Done<TrialExchange>[]): void {
  const { limit } = using.quota;
  const last = uses.at(-1);
  if (!last) return;
  const { refusals } = session.model;
  claimRefusedAs(session, last, {
    by: { when: 'limit.quota' },
    what: `what comes after ${limit} in one window`,
    beside: uses.slice(0, -1),
    tries: 1,
    isSo: (seen, ...before) => {
      const rate = refusals.of('limit.rate', seen.endpoint && session.model.operationOf(seen.endpoint));
      const isForRate = rate !== undefined && refusals.codeIn(seen) === rate.code.name;
      return seen.status >= 400 && seen.status < 500 && !isForRate && usesIn(before, using).filter(isDone).length === limit;
    },
  });
}

/** Another caller has what is theirs, where callers are counted apart; where they are counted together, nothing is left for them. */
async function claimOther(session: Session, using: Using, last: Done<TrialExchange>, other: TrialCaller): Promise<void> {
  const { quota, caller, isUsedUp, promised } = using;
  const { model } = session;
  const areApart = isApart(model, quota, using.operation, caller, other) === true;
  const own = await useOnce(session, { ...using, caller: other });
  session.claim({
    fact: quotasFact,
    reason: areApart ? 'apart' : 'together',
    at: quota.at,
    of: [last, own],
    tries: 1,
    judge: (end: TrialExchange, one: TrialExchange): Judgement => {
      if (!isUsedUp(end)) return moot('it was not used up');
      if (areApart && isUsedUp(one))
        return { promised: 'each has a quota of its own', seen: `${other.name} was refused for what another has used` };
      return !areApart && isDone(one) ? { promised, seen: `${other.name} was let through after it was used up` } : undefined;
    },
  });
}

/** Whether a window, of whatever zone, can have ended between the first and the last: they end on the quarter of an hour. */
function mayStraddle(all: readonly TrialExchange[]): boolean {
  const [first, last] = [all[0]?.fromMs ?? 0, all.at(-1)?.toMs ?? 0];
  return Math.floor(first / 900_000) !== Math.floor(last / 900_000);
}

const quotasFact: FactName = { kind: 'quotas', subject: 'service' };

/** The clocks may be so far apart, and a wait is told in whole seconds. */
const toleranceMs = 3_000;

/** A quota that is used up stays so until its window ends, says so, and begins anew with the next. */
async function claimWindow(session: Session, using: Using, last: Done<TrialExchange>): Promise<void> {
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
