import type { Endpoint } from '../../../parts/endpoints.ts';
import { refusingActs } from '../../../parts/possible-errors.ts';
import type { Machine, Target, Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused, claimRefusedAs } from '../../make/claim-refused.ts';
import { claimRow, gapMinMs } from '../../make/claim-row.ts';
import { claimTagOfChange, lookAt } from '../../make/look.ts';
import { bodyToward } from '../../make/opened.ts';
import { referredTo } from '../../make/own-rules.ts';
import { requestAbout } from '../../make/request-about.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import { openToFire, stateOfAim, stateSent } from '../../make/walk.ts';
import { movedByClock } from '../../model/clock-changes.ts';
import type { Model } from '../../model/model.ts';
import { ownRulesAt } from '../../model/own-condition.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { outcomeFor, targetFor } from './outcome.ts';

/** A transition that is fired in a state. */
export interface FiredTransition {
  readonly machine: Machine;
  readonly transition: Transition;
  readonly state: string;
  /** What it is to lead to, where that may be several. */
  readonly target?: Target;
  /** The update that is the transition; absent where an endpoint of its own fires it. */
  readonly update?: Endpoint;
  /** The user who is to fire it, where one who may is given; else whoever may. */
  readonly user?: string;
}

/** Why nothing is held against where a row is. */
const clocksDoing = 'the clock may have moved it meanwhile';

/** Fires a legal transition: it is taken, leads where it is said to, and makes of the row what the document says. */
export async function carryOut(session: Session, row: TrialRow, firing: FiredTransition): Promise<void> {
  const { machine, transition } = firing;
  const before = (await lookAt(session, row)).done;
  // The time of the change is another one than that of the change before.
  const done = await session.send({ ...(await firingOf(session, row, firing)), afterMs: 2 * gapMinMs });
  claimTaken(session, firing, { before, done });
  const answer = answerOf(session.model, firing, { exchange: done.value, was: before.value });
  if (answer !== undefined) {
    claimRefusedAs(session, done, {
      by: { code: answer },
      what: `${transition.name}, which is kept,`,
      beside: [before],
      isSo: (exchange, was) => was !== undefined && answerOf(session.model, firing, { exchange, was }) === answer,
    });
    await claimKept(session, row, firing, { before, done });
    return;
  }
  if (!isDone(done.value)) return;
  claimTagOfChange(session, before, done);
  claimRow(session, { resource: machine.resource, before, change: done, seen: done, reason: 'answered' });
  const after = await lookAt(session, row);
  claimRow(session, { resource: machine.resource, before, change: done, seen: after.done, reason: 'stored' });
  claimMoved(session, firing, { before, done, after: after.done });
}

async function firingOf(session: Session, row: TrialRow, firing: FiredTransition): Promise<RequestPlan> {
  const { machine, transition, target, update } = firing;
  const endpoint = update ?? session.model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const callers = callersFor(session, endpoint, row);
  const caller = callers.find(({ user }) => user === firing.user) ?? callers[0];
  const headers = await session.preconditions(endpoint, row, caller);
  const to = stateOfAim(target, transition);
  if (update) return requestAbout(session, row, update, { caller, headers, json: stateSent(update, machine, to) });
  const about = { caller, headers, transition, ...(target !== undefined && { target }) };
  return requestAbout(session, row, endpoint, about);
}

/** The same transition in a state that allows it. */
async function legal(session: Session, firing: FiredTransition): Promise<RequestPlan> {
  const { machine, transition } = firing;
  const [state] = transition.from === '*' ? [] : transition.from;
  const row = await session.make(machine.resource, { machine, style: 'full', ...(state !== undefined && { state }) });
  return firingOf(session, row, firing);
}

/** The same transition of a row with which it leads where it is answered with no error. @throws {Untestable} */
async function unanswered(session: Session, firing: FiredTransition): Promise<RequestPlan> {
  const { machine, transition, state } = firing;
  const target = transition.to.find(({ answer }) => answer === undefined);
  session.need(target !== undefined, 'it is answered with an error wherever it leads');
  const body = bodyToward(session, machine.resource, transition, target);
  const row = await session.make(machine.resource, { machine, state, ...(body && { body }) });
  await openToFire(session, row, transition, target);
  return firingOf(session, row, { ...firing, target });
}

/** A legal transition is not refused for its state; what else stands in its way is another matter. */
function claimTaken(
  session: Session,
  firing: FiredTransition,
  { before, done }: Record<'before' | 'done', Done<TrialExchange>>,
): void {
  const { model } = session;
  const { machine, transition, state, target, update } = firing;
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: `${transition.name} from ${state}`,
    at: transition.at,
    ...(target?.answer !== undefined && { control: () => unanswered(session, firing) }),
    of: [
      done,
      before,
      ...referredTo(session, machine.resource, [rowWith(model, before.value, idIn(model, done.value))]),
    ] as const,
    judge(exchange: TrialExchange, seen: TrialExchange, ...beside: readonly TrialExchange[]) {
      if (rowWith(model, seen, idIn(model, exchange))?.[machine.field] !== state) return moot('it was in another state');
      const answer = answerOf(model, firing, { exchange, was: seen });
      if (answer !== undefined && isRefusedAs(model, exchange, answer)) return undefined;
      if (answer !== undefined && isDone(exchange))
        return { promised: `${transition.name} is answered with ${answer}`, seen: asText(exchange.status) };
      const of = answer === undefined ? answeredOtherwise(model, firing, { exchange, was: seen }) : undefined;
      if (of !== undefined) return { promised: `${transition.name} is taken as it is`, seen: `${exchange.status} ${of}` };
      if (isDone(exchange)) return undefined;
      const isOpen = transition.if === undefined && transition.to.some((target) => !target.if);
      const outcome = outcomeFor(model, { machine, transition }, { exchange, was: seen, beside });
      // An update says where it wants to go; what leads elsewhere is refused.
      if (update && outcome !== target?.state) return moot('it leads elsewhere');
      const isMet =
        isOpen || (model.refusals.showsCodes && outcome !== undefined && outcome !== 'unknown' && outcome !== 'blocked');
      const isForState = isMet && isIllegalRefusal(model, exchange, transition);
      const operation = exchange.endpoint && model.operationOf(exchange.endpoint);
      // Of all that an update may be, it is this transition.
      const acts = update ? (transition.following ?? []) : operation ? refusingActs(model.spec, operation) : [];
      if (isForState && acts.length > 0) return moot('what follows may stand in its way');
      if (isForState && movedByClock(model, machine, exchange, seen)) return moot(clocksDoing);
      if (!isForState && exchange.status < 500) return moot('something else stood in its way');
      if (exchange.status === 501) return moot('the service says that it cannot do this');
      if (model.refusals.isHurried(exchange)) return moot('the service had too much to do');
      return { promised: `${transition.name} is legal in ${state}`, seen: `${exchange.status}${briefly(exchange)}` };
    },
  });
}

/** The error that a transition is answered with though it is kept, where it is known where it leads. */
function answerOf(
  model: Model,
  { machine, transition, target, update }: Omit<FiredTransition, 'state'>,
  seen: { readonly exchange: TrialExchange; readonly was: TrialExchange },
): string | undefined {
  if (transition.to.every(({ answer }) => answer === undefined)) return undefined;
  const taken = targetFor(model, { machine, transition }, seen);
  if (typeof taken !== 'object') return undefined;
  // An update says where it wants to go; what leads elsewhere is refused.
  return update && taken.state !== target?.state ? undefined : taken.answer;
}

/** The error of another target that an exchange is answered with, where the one that is taken has none. */
function answeredOtherwise(
  model: Model,
  { machine, transition }: Omit<FiredTransition, 'state'>,
  seen: { readonly exchange: TrialExchange; readonly was: TrialExchange },
): string | undefined {
  const { exchange } = seen;
  const code = isDone(exchange) ? undefined : model.refusals.codeIn(exchange);
  const isOfOther = code !== undefined && transition.to.some(({ answer }) => answer === code);
  const isOwn = exchange.endpoint !== undefined && ownRulesAt(model, exchange.endpoint).some((one) => one.code.name === code);
  if (!isOfOther || isOwn) return undefined;
  const taken = targetFor(model, { machine, transition }, seen);
  return typeof taken === 'object' && taken.answer === undefined ? code : undefined;
}

/** What is answered with an error is kept nevertheless: the row is where the transition leads. */
async function claimKept(
  session: Session,
  row: TrialRow,
  firing: FiredTransition,
  { before, done }: Record<'before' | 'done', Done<TrialExchange>>,
): Promise<void> {
  const { model } = session;
  const { machine, transition } = firing;
  const after = (await lookAt(session, row)).done;
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: `${transition.name} is kept`,
    at: transition.at,
    of: [done, after, before] as const,
    judge(exchange: TrialExchange, seen: TrialExchange, was: TrialExchange) {
      const answer = answerOf(model, firing, { exchange, was });
      if (answer === undefined || !isRefusedAs(model, exchange, answer)) return moot('it was answered otherwise');
      const wanted = outcomeFor(model, { machine, transition }, { exchange, was });
      const state = rowWith(model, seen, idIn(model, exchange))?.[machine.field];
      if (state === undefined) return moot('the row is not shown');
      if (state !== wanted && movedByClock(model, machine, exchange, was, seen)) return moot(clocksDoing);
      return state === wanted
        ? undefined
        : { promised: `${transition.name} is kept: it leads to ${wanted}`, seen: asText(state) };
    },
  });
}

/** Whether a refusal says that the state is wrong, or that the condition does not hold, under a code that says nothing else. */
function isIllegalRefusal(model: Model, exchange: TrialExchange, transition: Transition): boolean {
  const { endpoint } = exchange;
  const operation = endpoint && model.operationOf(endpoint);
  const general = model.refusals.of('transition.illegal.state', operation)?.code.name;
  const own = endpoint ? ownRulesAt(model, endpoint).map(({ code }) => code.name) : [];
  const blocked = transition.ifElse === undefined || own.includes(transition.ifElse) ? [] : [transition.ifElse];
  return [transition.else ?? general, general, ...blocked].some((code) => isRefusedAs(model, exchange, code));
}

/** Whether a refusal is of this code; where it shows none, by the status that most give to what is not allowed now. */
export function isRefusedAs(model: Model, exchange: TrialExchange, wanted: string | undefined): boolean {
  const code = model.refusals.codeIn(exchange);
  return code === undefined ? exchange.status === 409 : code === wanted;
}

/** The state afterwards is the one that the transition leads to, in the answer and when the row is read again. */
function claimMoved(
  session: Session,
  { machine, transition }: FiredTransition,
  { before, done, after }: Record<'before' | 'done' | 'after', Done<TrialExchange>>,
): void {
  const { model } = session;
  const targets = transition.to.map(({ state }) => state);
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: `${transition.name} leads`,
    at: transition.at,
    of: [done, after, before] as const,
    judge(exchange: TrialExchange, seen: TrialExchange, was: TrialExchange) {
      const row = isDone(exchange) ? rowWith(model, seen, idIn(model, exchange)) : undefined;
      if (!row) return moot('the row is not shown');
      const state = row[machine.field];
      const outcome = outcomeFor(model, { machine, transition }, { exchange, was });
      const wanted = outcome !== undefined && targets.includes(outcome) ? [outcome] : targets;
      const isThere = typeof state === 'string' && wanted.includes(state);
      if (!isThere && movedByClock(model, machine, exchange, was, seen)) return moot(clocksDoing);
      return isThere ? undefined : { promised: `${transition.name} leads to ${wanted.join(' or ')}`, seen: asText(state) };
    },
  });
}

/** So many users fire the same. */
const usersMost = 3;

/** Fires a transition in a state that does not allow it, as one of each user that may elsewhere: it is refused, and changes nothing. */
export async function refuseFiring(session: Session, row: TrialRow, firing: FiredTransition): Promise<void> {
  const endpoint = firing.update ?? session.model.endpointOfTransition(firing.machine.resource, firing.transition.name);
  const users = new Set((endpoint ? callersFor(session, endpoint, row) : []).map(({ user }) => user));
  if (users.size < 2) return refuseOne(session, row, firing);
  for (const user of [...users].slice(0, usersMost)) await refuseOne(session, row, { ...firing, user });
}

async function refuseOne(session: Session, row: TrialRow, firing: FiredTransition): Promise<void> {
  const { machine, transition, state } = firing;
  const { model } = session;
  const before = (await lookAt(session, row)).done;
  const done = await session.send(await firingOf(session, row, firing));
  const fact = { kind: 'transitions', subject: machine.key };
  claimRefused(session, done, {
    by: transition.else === undefined ? { when: 'transition.illegal.state' } : { code: transition.else },
    fact,
    reason: `${transition.name} refused from ${state}`,
    at: transition.at,
    beside: [before],
    what: `${transition.name} in ${state}`,
    control: () => legal(session, firing),
    isOvertaken: (exchange, ...was) => movedByClock(model, machine, exchange, ...was),
    isSo: (exchange, was) => was !== undefined && rowWith(model, was, idIn(model, exchange))?.[machine.field] === state,
  });
  await claimUnchanged(session, row, { before, attempt: done, fact });
}
