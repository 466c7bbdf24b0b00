import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { RowLimit } from '../../parts/row-limits.ts';
import { claimRefusedAs } from '../errors/claim-refused.ts';
import { ready } from '../make/readied.ts';
import { requestAbout } from '../make/request-about.ts';
import { rowFrom } from '../make/row-from.ts';
import { isSamePerson, type TrialCaller } from '../model/callers.ts';
import type { FactName } from '../model/facts.ts';
import type { Model } from '../model/model.ts';
import { conditionFacts, isRefusal, refusalFor } from '../model/refused-as.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { isDone, type TrialExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Case, Trial } from '../trial.ts';

/** As many rows as are allowed can be made, however many are made at once, and no more; one that goes makes room for one. */
export const rowLimits: Trial = {
  name: 'limits/rows',
  part: 'limits',
  about: 'No more rows come to be than are allowed, of several requests at once too; one that is removed makes room for another.',
  noise: 'loud',
  *cases(model) {
    for (const rule of statedValue(model.spec.limits.rows) ?? []) {
      const [endpoint] = model.endpointsThat('create', rule.of);
      if (endpoint && rule.limit <= limitMost) yield caseOf(model, rule, endpoint);
    }
  },
};

/** The largest number of rows that is made. */
const limitMost = 40;

/** So many more than are allowed are asked for at once. */
const rivals = 3;

function rowLimitFact({ of }: RowLimit): FactName {
  return { kind: 'quotas', subject: `rows of ${of}` };
}

function caseOf(model: Model, rule: RowLimit, endpoint: Endpoint): Case {
  const fact = rowLimitFact(rule);
  const operation = model.operationOf(endpoint);
  const promised = `${rule.limit} rows of ${rule.of}${rule.per === undefined ? '' : ` per ${rule.per}`}`;
  return {
    name: promised,
    facts: [fact, ...conditionFacts(model, 'limit.quota', operation)],
    async run(session: Session) {
      const able = model.callers.filter((one) => one.credential && model.access.allows(operation, one) === 'yes');
      const caller = able.at(-1);
      const other = rule.per === 'caller.id' ? able.find((one) => caller && !isSamePerson(one, caller)) : undefined;
      const beside = other && {
        caller: other,
        made: await session.send((await ready(session, endpoint, { caller: other })).request),
      };
      const made = await raced(session, endpoint, caller, rule.limit + rivals);
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
      const last = await session.send((await ready(session, endpoint, { caller })).request);
      const refusal = refusalFor(model, 'limit.quota', operation);
      const isFull = (seen: TrialExchange) => (refusal ? isRefusal(model, seen, refusal) : seen.status === 429);
      session.claim({
        fact,
        reason: 'kept',
        at: rule.at,
        of: [...made, last],
        tries: 1,
        judge: (...all: readonly TrialExchange[]): Judgement =>
          all.filter(isDone).length > rule.limit ? { promised, seen: `${all.filter(isDone).length} were made` } : undefined,
      });
      if (!isFull(last.value)) return;
      claimRefusedAs(session, last, { by: { when: 'limit.quota' }, what: `one more than ${promised}`, beside: made, tries: 1 });
      if (beside) await claimApart(session, { rule, endpoint, caller, isFull, promised }, beside, last);
      await claimFreed(session, { rule, endpoint, caller, isFull, promised }, made, last);
    },
  };
}

function raced(
  session: Session,
  endpoint: Endpoint,
  caller: TrialCaller | undefined,
  count: number,
): Promise<Done<TrialExchange>[]> {
  const plans = Array.from({ length: count }, () => ready(session, endpoint, { caller }));
  return Promise.all(plans).then((readied) => session.together(readied.map(({ request }) => request)));
}

interface Filled {
  readonly rule: RowLimit;
  readonly endpoint: Endpoint;
  readonly caller: TrialCaller | undefined;
  readonly isFull: (seen: TrialExchange) => boolean;
  readonly promised: string;
}

/** One that is removed makes room for one, however many are asked for at once. */
async function claimFreed(
  session: Session,
  { rule, endpoint, caller, isFull, promised }: Filled,
  made: readonly Done<TrialExchange>[],
  full: Done<TrialExchange>,
): Promise<void> {
  const { model } = session;
  const [remove] = model.endpointsThat('delete', rule.of);
  const first = made.find(({ value }) => isDone(value));
  if (!remove || !first || model.access.allows(model.operationOf(remove), caller) === 'no') return;
  const row = rowFrom(session, rule.of, endpoint, first);
  const gone = await session.send(await requestAbout(session, row, remove, { caller }));
  const again = await raced(session, endpoint, caller, rivals);
  const more = await session.send((await ready(session, endpoint, { caller })).request);
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
  { rule, endpoint, caller, isFull, promised }: Filled,
  other: { readonly caller: TrialCaller; readonly made: Done<TrialExchange> },
  full: Done<TrialExchange>,
): Promise<void> {
  const { model } = session;
  const [remove] = model.endpointsThat('delete', rule.of);
  if (!remove || !isDone(other.made.value)) return;
  const row = rowFrom(session, rule.of, endpoint, other.made);
  const gone = await session.send(await requestAbout(session, row, remove, { caller: other.caller }));
  const again = await session.send((await ready(session, endpoint, { caller })).request);
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
