import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { fieldCountedApart, type RowLimit } from '../../../parts/row-limits.ts';
import { isSamePerson, type TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { rowFrom } from '../../make/made.ts';
import { ready } from '../../make/readied.ts';
import { requestAbout } from '../../make/request-about.ts';
import { rowFor } from '../../make/row-where.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts, isRefusal, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { bareMap, membersOf, withMember } from '../../values/at-path.ts';

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
      const { plan, isFresh } = await rowPlans(session, rule, endpoint, caller);
      const made = await raced(session, plan, rule.limit + rivals);
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
      if (isFresh) claimReached(session, rule, made, isFull);
      if (!isFull(last.value)) return;
      claimRefusedAs(session, last, { by: { when: 'limit.quota' }, what: `one more than ${promised}`, beside: made, tries: 1 });
      if (beside) await claimApart(session, { rule, plan, caller, isFull, promised }, beside, last);
      await claimFreed(session, { rule, plan, caller, isFull, promised }, made, last);
    },
  };
}

interface Filled {
  readonly rule: RowLimit;
  /** Asks for one more of those that count together. */
  readonly plan: RowPlans['plan'];
  readonly caller: TrialCaller | undefined;
  readonly isFull: (seen: TrialExchange) => boolean;
  readonly promised: string;
}

/** So many are asked for at once, all of which count together. */
async function raced(session: Session, plan: RowPlans['plan'], count: number): Promise<Done<TrialExchange>[]> {
  return session.together(await Promise.all(Array.from({ length: count }, plan)));
}

/** As many as are allowed can be made where there was none before. */
function claimReached(session: Session, rule: RowLimit, made: readonly Done<TrialExchange>[], isFull: Filled['isFull']): void {
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

function creating({ model }: Session, { of }: RowLimit): Endpoint {
  const [endpoint] = model.endpointsThat('create', of);
  // The case is planned of it.
  return endpoint!;
}

/** One that is removed makes room for one, however many are asked for at once. */
async function claimFreed(
  session: Session,
  { rule, plan, caller, isFull, promised }: Filled,
  made: readonly Done<TrialExchange>[],
  full: Done<TrialExchange>,
): Promise<void> {
  const { model } = session;
  const [remove] = model.endpointsThat('delete', rule.of);
  const first = made.find(({ value }) => isDone(value));
  if (!remove || !first || model.access.allows(model.operationOf(remove), caller) === 'no') return;
  const row = rowFrom(session, rule.of, creating(session, rule), first);
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
  { rule, plan, isFull, promised }: Filled,
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

/** Requests for rows that count together. */
interface RowPlans {
  readonly plan: () => Promise<RequestPlan>;
  /** Whether there is none yet of those that they count with. */
  readonly isFresh: boolean;
}

/** How rows are asked for that one limit counts together: below one row, or with one value, where that tells them apart. @throws {Untestable} */
async function rowPlans(
  session: Session,
  rule: RowLimit,
  endpoint: Endpoint,
  caller: TrialCaller | undefined,
): Promise<RowPlans> {
  const { model } = session;
  const alike = alikeBut(model.uniqueFields(rule.of));
  const plain = async () => alike((await ready(session, endpoint, { caller })).request);
  if (rule.per === undefined || rule.per.startsWith('caller.')) return { plan: plain, isFresh: false };
  const stated = model.resource(rule.of);
  const field = stated && fieldCountedApart(rule, stated);
  session.need(field !== undefined, `what counts together is not told by ${rule.per}`);
  const target = entryOf(stated?.fields, field)?.ref;
  if (target === undefined) {
    const { body } = await plain();
    const value = body && 'value' in body ? membersOf(body.value)[field] : undefined;
    // What nobody sends is the same for whoever asks.
    return { plan: async () => withValue(await plain(), field, value), isFresh: false };
  }
  const parent = await rowFor(session, rule.of, field, target);
  const asking = caller ?? callersFor(session, endpoint)[0];
  const plan = async (): Promise<RequestPlan> => {
    const { path, json } = await session.parts(endpoint, { caller: asking, parents: { [field]: parent } });
    return alike(model.request(endpoint, { path, caller: asking, ...(json !== undefined && { json }) }));
  };
  return { plan, isFresh: rule.while === undefined };
}

/** Each says what the first one says but for these members, so that what is refused differs from what was taken in nothing else. */
function alikeBut(names: readonly string[]): (plan: RequestPlan) => RequestPlan {
  let first: Readonly<Record<string, Symbolic>> | undefined;
  return (plan) => {
    if (!plan.body || !('value' in plan.body)) return plan;
    const own = membersOf(plan.body.value);
    first ??= own;
    const apart = Object.entries(own).filter(([name]) => names.includes(name));
    return { ...plan, body: { ...plan.body, value: bareMap({ ...first, ...Object.fromEntries(apart) }) } };
  };
}

function withValue(plan: RequestPlan, field: string, value: Symbolic | undefined): RequestPlan {
  if (value === undefined || !plan.body || !('value' in plan.body)) return plan;
  return { ...plan, body: { ...plan.body, value: withMember(plan.body.value, [field], value) } };
}
