import { statedValue } from '../../../parts/fact.ts';
import type { RowLimit } from '../../../parts/row-limits.ts';
import { isSamePerson, type TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { ready } from '../../make/readied.ts';
import { requestAbout } from '../../make/request-about.ts';
import { rowFrom } from '../../make/row-made.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts, isRefusal, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { claimBroughtIn } from './brought-in.ts';
import { creating, entryTo, type FullHouse, type RowPlans, rowAsked, rowLimitFact, rowPlans, type WayIn } from './row-plans.ts';
import { claimLeft, leavingMost, leavings } from './rows-left.ts';
import { awaitRoom, claimStaying, stayingMost, stayings } from './rows-staying.ts';

/** As many rows as are allowed can be made, however many are made at once, and no more; one that goes makes room for one. */
export const rowLimits: Trial = {
  name: 'limits/rows',
  part: 'limits',
  about:
    'No more rows come to be than are allowed, of several requests at once too, and by no change that makes one count; one that is removed makes room for another.',
  noise: 'loud',
  mayLetTimeGo: true,
  *cases(model) {
    for (const rule of statedValue(model.spec.limits.rows) ?? []) {
      const entry = entryTo(model, rule);
      if (entry && rule.limit <= limitMost) yield caseOf(model, rule, entry);
    }
  },
};

/** The largest number of rows that is made. */
const limitMost = 40;

/** So many more than are allowed are asked for at once. */
const rivals = 3;

function caseOf(model: Model, rule: RowLimit, { endpoint, transition }: WayIn): Case {
  const fact = rowLimitFact(rule);
  const operation = model.operationOf(endpoint);
  const promised = `${rule.limit} rows of ${rule.of}${rule.per === undefined ? '' : ` per ${rule.per}`}`;
  return {
    name: promised,
    facts: [fact, ...conditionFacts(model, 'limit.quota', operation)],
    async run(session: Session) {
      const able = model.callers.filter(
        (one) =>
          one.credential &&
          (transition ? model.access.allows(operation, one) !== 'no' : model.access.allows(operation, one) === 'yes'),
      );
      const caller = able.at(-1);
      const other =
        rule.per === 'caller.id' && !transition ? able.find((one) => caller && !isSamePerson(one, caller)) : undefined;
      const beside = other && {
        caller: other,
        made: await session.send((await ready(session, endpoint, { caller: other })).request),
      };
      const { plan, isFresh } = await rowPlans(session, rule, endpoint, caller, transition !== undefined);
      // Which of several at once are made is another matter each time: those that are to leave are made before.
      const alone: Done<TrialExchange>[] = [];
      await awaitRoom(session, rule);
      for (let count = aloneMost(model, rule); count > 0; count--) alone.push(await session.send(await plan()));
      const made = [...alone, ...(await raced(session, plan, rule.limit + rivals))];
      session.claim({
        fact,
        reason: 'kept, raced',
        at: rule.at,
        of: made,
        tries: 3,
        judge: (...all: readonly TrialExchange[]): Judgement => {
          const succeeded = all.filter(isDone).length;
          return succeeded > rule.limit ? { promised, seen: `${succeeded} of ${all.length} at once were made` } : undefined;
        },
      });
      const last = await session.send(await plan());
      const refusal = refusalFor(model, 'limit.quota', operation);
      const isFull = (one: TrialExchange) => (refusal ? isRefusal(model, one, refusal) : one.status === 429);
      session.claim({
        fact,
        reason: 'kept',
        at: rule.at,
        of: [...made, last],
        tries: 1,
        judge: (...all: readonly TrialExchange[]): Judgement =>
          all.filter(isDone).length > rule.limit ? { promised, seen: `${all.filter(isDone).length} were made` } : undefined,
      });
      if (isFresh) claimReached(session, rule, made, isFull);
      if (!isFull(last.value)) return;
      claimRefusedAs(session, last, { by: { when: 'limit.quota' }, what: `one more than ${promised}`, beside: made, tries: 1 });
      // What is moved is another row each time, and is not made by these requests.
      if (transition) return;
      const house: FullHouse = { rule, plan, caller, isFull, promised };
      if (beside) await claimApart(session, house, beside, last);
      await claimRoom(session, house, made, alone, last);
    },
  };
}

/** How many are made one by one: those that leave, and those that come to another state that counts. */
function aloneMost(model: Model, rule: RowLimit): number {
  const left = Math.min(leavingMost, leavings(model, rule).length);
  return Math.min(rule.limit - 1, left + Math.min(stayingMost, stayings(model, rule).length));
}

/** So many are asked for at once, all of which count together. */
async function raced(session: Session, plan: RowPlans['plan'], count: number): Promise<Done<TrialExchange>[]> {
  return session.together(await Promise.all(Array.from({ length: count }, plan)));
}

/** As many as are allowed can be made where there was none before. */
function claimReached(session: Session, rule: RowLimit, made: readonly Done<TrialExchange>[], isFull: FullHouse['isFull']): void {
  session.claim({
    fact: rowLimitFact(rule),
    reason: 'reached',
    at: rule.at,
    of: made,
    tries: 2,
    judge: (...all: readonly TrialExchange[]): Judgement => {
      if (!all.every((one) => isDone(one) || isFull(one))) return moot('something else stood in its way');
      const succeeded = all.filter(isDone).length;
      return succeeded < rule.limit
        ? {
            promised: `${rule.limit} rows of ${rule.of}${rule.per === undefined ? '' : ` per ${rule.per}`}`,
            seen: `${succeeded}`,
          }
        : undefined;
    },
  });
}

/** No change makes one more count; what goes makes room: a row that is removed, and one that is moved out of what counts. */
async function claimRoom(
  session: Session,
  house: FullHouse,
  made: readonly Done<TrialExchange>[],
  alone: readonly Done<TrialExchange>[],
  full: Done<TrialExchange>,
): Promise<void> {
  const left = Math.min(leavingMost, leavings(session.model, house.rule).length);
  await claimStaying(session, house, alone.slice(left), full);
  await claimBroughtIn(session, house, full);
  await claimFreed(session, house, made.slice(alone.length), full);
  await claimLeft(session, house, alone.slice(0, left), full);
}

/** One that is removed makes room for one, however many are asked for at once. */
async function claimFreed(
  session: Session,
  { rule, plan, caller, isFull, promised }: FullHouse,
  made: readonly Done<TrialExchange>[],
  full: Done<TrialExchange>,
): Promise<void> {
  const { model } = session;
  const [remove] = model.endpointsThat('delete', rule.of);
  const first = made.find(({ value }) => isDone(value));
  if (!remove || !first || model.access.allows(model.operationOf(remove), caller) === 'no') return;
  const row = await rowAsked(session, { rule, plan }, first);
  const gone = await session.send(await requestAbout(session, row, remove, { caller }));
  const again = await raced(session, plan, rivals);
  const more = await session.send(await plan());
  const judged = (judge: (succeeded: number) => Judgement) => {
    return (before: TrialExchange, removed: TrialExchange, ...seen: readonly TrialExchange[]): Judgement => {
      if (!isFull(before) || !isDone(removed)) return moot('none was removed from a full house');
      return judge(seen.filter(isDone).length);
    };
  };
  const about = { fact: rowLimitFact(rule), at: rule.at, tries: 1 };
  const tooMany = (succeeded: number): Judgement =>
    succeeded > 1 ? { promised, seen: `${succeeded} were made where one had gone` } : undefined;
  session.claim({ ...about, reason: 'kept, raced', of: [full, gone, ...again], judge: judged(tooMany) });
  session.claim({ ...about, reason: 'kept', of: [full, gone, ...again, more], judge: judged(tooMany) });
  session.claim({
    ...about,
    reason: 'room again',
    of: [full, gone, ...again],
    judge: judged((succeeded) =>
      succeeded === 0
        ? { promised: `${promised}, of those that are there`, seen: 'none was made where one had gone' }
        : undefined,
    ),
  });
}

/** What another caller's row that goes makes no room for, where callers are counted apart. */
async function claimApart(
  session: Session,
  { rule, plan, isFull, promised }: FullHouse,
  other: { readonly caller: TrialCaller; readonly made: Done<TrialExchange> },
  full: Done<TrialExchange>,
): Promise<void> {
  const { model } = session;
  const [remove] = model.endpointsThat('delete', rule.of);
  if (!remove || !isDone(other.made.value)) return;
  const row = rowFrom(session, rule.of, creating(session, rule), other.made);
  const gone = await session.send(await requestAbout(session, row, remove, { caller: other.caller }));
  const again = await session.send(await plan());
  session.claim({
    fact: rowLimitFact(rule),
    reason: 'apart',
    at: rule.at,
    of: [full, gone, again],
    tries: 1,
    judge: (before: TrialExchange, removed: TrialExchange, seen: TrialExchange): Judgement => {
      if (!isFull(before) || !isDone(removed)) return moot('none was removed from a full house');
      return isDone(seen) ? { promised, seen: 'a row of another caller that went made room' } : undefined;
    },
  });
}
