import { entriesOf } from '../../parts/fact.ts';
import { type Machine, machineOf, type Transition } from '../../parts/states.ts';
import { claimRefused } from '../errors/claim-refused.ts';
import { callersFor } from '../make/callers-for.ts';
import { lookAt } from '../make/look.ts';
import { requestAbout } from '../make/request-about.ts';
import type { Row } from '../make/row.ts';
import { fire, statesOf } from '../make/walk.ts';
import type { FactName } from '../model/facts.ts';
import type { Model } from '../model/model.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import { claimRow } from '../resources/claim-row.ts';
import { moot } from '../script/claim.ts';
import { briefly, type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Trial } from '../trial.ts';

/** Every transition that a caller can fire, from every state: it leads where it is said to, or is refused and changes nothing. */
export const transitions: Trial = {
  name: 'states/transitions',
  part: 'states',
  about:
    'Every transition from every state: the legal ones lead where they are said to, the others are refused and change nothing.',
  noise: 'quiet',
  *cases(model) {
    for (const { machine, transition } of fireable(model)) {
      const facts = [...factsOf(machine), ...setBy(model, machine, transition)];
      for (const state of statesOf(machine)) {
        const isLegal = transition.from === '*' || transition.from.includes(state);
        const name = `${transition.name} ${machine.resource} from ${state}`;
        yield { name, facts, run: (session) => (isLegal ? fireLegal : fireIllegal)(session, machine, transition, state) };
      }
    }
  },
};

/** The fields that a transition sets. */
function setBy(model: Model, { resource }: Machine, { name }: Transition): FactName[] {
  const stated = model.resource(resource);
  const fields = stated ? entriesOf(stated.fields) : [];
  const words = [name, `${name} ${resource}`, 'write'];
  return fields
    .filter(([, field]) => words.some((word) => field.set[word] !== undefined))
    .map(([field]) => ({ kind: 'allowed values', subject: `${resource}.${field}` }));
}

/** The transitions that have an endpoint. */
export function* fireable(model: Model): Iterable<{ readonly machine: Machine; readonly transition: Transition }> {
  for (const [resource] of entriesOf(model.spec.resources.all)) {
    const machine = machineOf(model.spec.states, resource);
    for (const [name, transition] of machine ? entriesOf(machine.transitions) : []) {
      if (machine && model.endpointOfTransition(resource, name)) yield { machine, transition };
    }
  }
}

export function factsOf({ resource }: Machine): FactName[] {
  return ['transitions', 'states'].map((kind) => ({ kind, subject: resource }));
}

async function fireLegal(session: Session, machine: Machine, transition: Transition, state: string): Promise<void> {
  const { model } = session;
  const endpoint = model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const row = await session.make(machine.resource, { state, style: 'full' });
  const [before] = [(await lookAt(session, row)).done];
  const done = await fire(session, row, endpoint, transition);
  claimTaken(session, machine, transition, state, done, before);
  if (!isDone(done.value)) return;
  claimRow(session, { resource: machine.resource, before, change: done, seen: done, reason: 'answered' });
  const after = await lookAt(session, row);
  claimRow(session, { resource: machine.resource, before, change: done, seen: after.done, reason: 'stored' });
  claimMoved(session, machine, transition, { done, after: after.done });
}

/** A legal transition is not refused for its state; what else stands in its way is another matter. */
function claimTaken(
  session: Session,
  machine: Machine,
  transition: Transition,
  state: string,
  done: Done<Exchange>,
  before: Done<Exchange>,
): void {
  const { model } = session;
  session.claim({
    ...{
      fact: { kind: 'transitions', subject: machine.resource },
      reason: `${transition.name} from ${state}`,
      at: transition.at,
    },
    of: [done, before] as const,
    judge(exchange: Exchange, seen: Exchange) {
      if (rowWith(model, seen, idIn(model, exchange))?.[machine.field] !== state) return moot('it was in another state');
      if (isDone(exchange)) return undefined;
      const isForState =
        isIllegalRefusal(model, exchange, transition) &&
        transition.if === undefined &&
        transition.to.some((target) => !target.if);
      if (!isForState && exchange.status < 500) return moot('something else stood in its way');
      if (exchange.status === 501) return moot('the service says that it cannot do this');
      return { promised: `${transition.name} is legal in ${state}`, seen: `${exchange.status}${briefly(exchange)}` };
    },
  });
}

/** Whether a refusal says that the state is wrong. */
function isIllegalRefusal(model: Model, exchange: Exchange, transition: Transition): boolean {
  const { endpoint } = exchange;
  const operation = endpoint && model.operationOf(endpoint);
  const code = model.refusals.codeIn(exchange);
  const stated = transition.else ?? model.refusals.of('transition.illegal', operation)?.code.name;
  return code === undefined ? exchange.status === 409 : code === stated;
}

/** The state afterwards is one of the transition's targets; which one is claimed with the row's other fields. */
function claimMoved(
  session: Session,
  machine: Machine,
  transition: Transition,
  { done, after }: { done: Done<Exchange>; after: Done<Exchange> },
): void {
  const { model } = session;
  const targets = transition.to.map(({ state }) => state);
  session.claim({
    ...{ fact: { kind: 'transitions', subject: machine.resource }, reason: `${transition.name} leads`, at: transition.at },
    of: [done, after] as const,
    judge(exchange: Exchange, seen: Exchange) {
      const row = isDone(exchange) ? rowWith(model, seen, idIn(model, exchange)) : undefined;
      if (!row) return moot('the row is not shown');
      const state = row[machine.field];
      const isThere = typeof state === 'string' && targets.includes(state);
      return isThere ? undefined : { promised: `${transition.name} leads to ${targets.join(' or ')}`, seen: String(state) };
    },
  });
}

async function fireIllegal(session: Session, machine: Machine, transition: Transition, state: string): Promise<void> {
  const { model } = session;
  const endpoint = model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const row = await session.make(machine.resource, { state });
  const before = (await lookAt(session, row)).done;
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const done = await session.send(await requestAbout(session, row, endpoint, { caller, headers, transition }));
  const isSo = (exchange: Exchange, was?: Exchange) =>
    was !== undefined && rowWith(model, was, idIn(model, exchange))?.[machine.field] === state;
  claimRefused(session, done, {
    by: transition.else === undefined ? { when: 'transition.illegal' } : { code: transition.else },
    ...{
      fact: { kind: 'transitions', subject: machine.resource },
      reason: `${transition.name} refused from ${state}`,
      at: transition.at,
    },
    ...{ what: `${transition.name} in ${state}`, isSo, beside: [before] },
  });
  await claimUnchanged(session, row, { before, attempt: done, fact: { kind: 'transitions', subject: machine.resource } });
}

/** Claims that a row is as it was, since what was asked was refused. */
export async function claimUnchanged(
  session: Session,
  row: Row,
  { before, attempt, fact }: { readonly before: Done<Exchange>; readonly attempt: Done<Exchange>; readonly fact: FactName },
): Promise<void> {
  const { model } = session;
  const after = (await lookAt(session, row)).done;
  session.claim({
    ...{ fact, reason: 'refused, unchanged', of: [before, attempt, after] as const },
    judge(was: Exchange, tried: Exchange, is: Exchange) {
      const id = idIn(model, tried);
      const old = rowWith(model, was, id);
      if (tried.status < 400 || !old) return moot('it was not refused');
      const now = rowWith(model, is, id);
      const isSame =
        now !== undefined &&
        Object.keys({ ...old, ...now }).every((name) => JSON.stringify(old[name]) === JSON.stringify(now[name]));
      return isSame
        ? undefined
        : { promised: `what was refused changes nothing: ${JSON.stringify(old)}`, seen: JSON.stringify(now ?? null) };
    },
  });
}
