import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { fieldCountedApart, type RowLimit } from '../../parts/row-limits.ts';
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
import type { RequestPlan, SentBody } from '../script/plan.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Symbolic } from '../script/symbol.ts';
import type { Case, Trial } from '../trial.ts';
import { membersOf, withMember } from '../values/at-path.ts';

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
      const field = fieldApart(model, rule);
      const made = await raced(session, endpoint, { caller, field }, rule.limit + rivals);
      const [first] = made;
      session.need(first !== undefined && isApartOnce(made, field), `whether they count together is not told by ${rule.per}`);
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
      const one = (await ready(session, endpoint, { caller })).request;
      const last = await session.send(field === undefined ? one : within(one, field, first.value.sent));
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
      if (beside) await claimApart(session, { rule, endpoint, caller, isFull, promised, field }, beside, last);
      await claimFreed(session, { rule, endpoint, caller, isFull, promised, field }, made, last);
    },
  };
}

/** The field that rows are counted apart by, where it is not who makes them that does. */
function fieldApart(model: Model, rule: RowLimit): string | undefined {
  const stated = model.resource(rule.of);
  return rule.per === undefined || rule.per.startsWith('caller.') || !stated ? undefined : fieldCountedApart(rule, stated);
}

/** So many are asked for at once, all of which count together. */
async function raced(
  session: Session,
  endpoint: Endpoint,
  { caller, field }: Pick<Filled, 'caller' | 'field'>,
  count: number,
): Promise<Done<TrialExchange>[]> {
  const readied = await Promise.all(Array.from({ length: count }, () => ready(session, endpoint, { caller })));
  const [first, ...others] = readied.map(({ request }) => request);
  if (!first || field === undefined) return session.together(readied.map(({ request }) => request));
  return session.together([first, ...others.map((one) => within(one, field, first))]);
}

/** What a request says of a field, in its path or in its body. */
interface Saying {
  readonly path: Readonly<Record<string, Symbolic>>;
  readonly body?: SentBody;
  readonly json?: Json;
}

/** A request with the value that another one has of a field. */
function within(plan: RequestPlan, field: string, other: Saying): RequestPlan {
  if (field in plan.path) return { ...plan, path: { ...plan.path, [field]: other.path[field] ?? null } };
  const sent = other.body && 'value' in other.body ? other.body.value : other.json;
  const value = membersOf(sent ?? null)[field];
  if (value === undefined || !plan.body || !('value' in plan.body)) return plan;
  return { ...plan, body: { ...plan.body, value: withMember(plan.body.value, [field], value) } };
}

/** Whether all that were asked for count together. */
function isApartOnce(made: readonly Done<TrialExchange>[], field: string | undefined): boolean {
  if (field === undefined) return true;
  const values = made.map(({ value: { sent } }) =>
    JSON.stringify(sent.path[field] ?? membersOf(sent.json ?? null)[field] ?? null),
  );
  return new Set(values).size === 1 && values[0] !== 'null';
}

interface Filled {
  readonly rule: RowLimit;
  readonly endpoint: Endpoint;
  readonly caller: TrialCaller | undefined;
  readonly isFull: (seen: TrialExchange) => boolean;
  readonly promised: string;
  /** The field that rows are counted apart by. */
  readonly field: string | undefined;
}

/** One that is removed makes room for one, however many are asked for at once. */
async function claimFreed(
  session: Session,
  { rule, endpoint, caller, isFull, promised, field }: Filled,
  made: readonly Done<TrialExchange>[],
  full: Done<TrialExchange>,
): Promise<void> {
  const { model } = session;
  const [remove] = model.endpointsThat('delete', rule.of);
  const first = made.find(({ value }) => isDone(value));
  if (!remove || !first || model.access.allows(model.operationOf(remove), caller) === 'no') return;
  const row = rowFrom(session, rule.of, endpoint, first);
  const gone = await session.send(await requestAbout(session, row, remove, { caller }));
  const into = (plan: RequestPlan) => (field === undefined ? plan : within(plan, field, first.value.sent));
  const readied = await Promise.all(Array.from({ length: rivals }, () => ready(session, endpoint, { caller })));
  const again = await session.together(readied.map(({ request }) => into(request)));
  const more = await session.send(into((await ready(session, endpoint, { caller })).request));
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
