import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf } from '../../../parts/fact.ts';
import { fieldCountedApart, type RowLimit } from '../../../parts/row-limits.ts';
import { type Machine, machinesOf, type Transition } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { FactName } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { makerMember } from '../../make/of-maker.ts';
import { keysKnown } from '../../make/path-keys.ts';
import { counts } from '../../make/places.ts';
import { ready } from '../../make/readied.ts';
import { rowFrom } from '../../make/row-made.ts';
import { rowFor } from '../../make/row-where.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import { bareMap, membersOf, withMember } from '../../values/at-path.ts';

export function rowLimitFact({ of }: RowLimit): FactName {
  return { kind: 'quotas', subject: `rows of ${of}` };
}

/** Rows that are as many as there may be, and how one more is asked for. */
export interface FullHouse {
  readonly rule: RowLimit;
  /** Asks for one more of those that count together. */
  readonly plan: RowPlans['plan'];
  readonly caller: TrialCaller | undefined;
  readonly isFull: (seen: TrialExchange) => boolean;
  readonly promised: string;
}

/** How a row comes to count in a limit: it is made, or moved by a transition into a state in which rows count. */
export interface WayIn {
  readonly endpoint: Endpoint;
  /** Absent where it is made. */
  readonly transition?: Transition;
}

/** Nothing where nobody asks for one, or where it is not told whose a row is that is moved. */
export function entryTo(model: Model, rule: RowLimit): WayIn | undefined {
  const [endpoint] = model.endpointsThat('create', rule.of);
  const machines = machinesOf(model.spec.states, rule.of);
  const isCounted = (machine: Machine, state: string | undefined) =>
    counts(model, rule, state === undefined ? undefined : { [machine.field]: state });
  const apart = machines.find(({ initial, field }) => {
    const [first, ...others] = initial;
    const told =
      rule.while && model.expressions.evaluate(rule.while, undefined, { context: { next: { [field]: first?.state ?? '' } } });
    return first !== undefined && others.length === 0 && typeof told === 'object' && told.value === false;
  });
  if (!apart) return endpoint && { endpoint };
  const stated = model.resource(rule.of);
  const field = rule.per === undefined ? undefined : stated && fieldCountedApart(rule, stated);
  for (const [name, transition] of entriesOf(apart.transitions)) {
    const [target, ...targets] = transition.to;
    const isFrom = transition.from !== '*' && transition.from.every((state) => !isCounted(apart, state));
    const isInto = target !== undefined && targets.length === 0 && isCounted(apart, target.state);
    const isTold =
      field === undefined ? rule.per === undefined : makerMember(entryOf(stated?.fields, field)?.set[name]) !== undefined;
    const fired = isFrom && isInto && isTold ? model.endpointOfTransition(rule.of, name) : undefined;
    if (fired) return { endpoint: fired, transition };
  }
  return undefined;
}

export function creating({ model }: Session, { of }: RowLimit): Endpoint {
  const [endpoint] = model.endpointsThat('create', of);
  // The case is planned of it.
  return endpoint!;
}

/** A row that was made, below what the requests for its like name: in another run that is another row. */
export async function rowAsked(
  session: Session,
  { rule, plan }: Pick<FullHouse, 'rule' | 'plan'>,
  made: Done<TrialExchange>,
): Promise<TrialRow> {
  const endpoint = creating(session, rule);
  const row = rowFrom(session, rule.of, endpoint, made);
  const { path } = await plan();
  const known: Record<string, Symbolic> = bareMap({ ...row.known, ...path });
  for (const [name, key] of keysKnown(session.model, endpoint)) if (path[name] !== undefined) known[key] = path[name];
  return { ...row, known };
}

/** Requests for rows that count together. */
export interface RowPlans {
  readonly plan: () => Promise<RequestPlan>;
  /** Whether there is none yet of those that they count with. */
  readonly isFresh: boolean;
}

/** How rows are asked for that one limit counts together: below one row, or with one value, where that tells them apart. @throws {Untestable} */
export async function rowPlans(
  session: Session,
  rule: RowLimit,
  endpoint: Endpoint,
  caller: TrialCaller | undefined,
  isMoved = false,
): Promise<RowPlans> {
  const { model } = session;
  if (isMoved) return { plan: async () => (await ready(session, endpoint, { caller })).request, isFresh: false };
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
  // Whoever asks makes it where it may: another's it need not be shown.
  const mayMake = model
    .endpointsThat('create', target)
    .some((one) => model.access.allows(model.operationOf(one), caller) !== 'no');
  const parent = await rowFor(session, rule.of, field, target, caller && mayMake ? { caller } : {});
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
