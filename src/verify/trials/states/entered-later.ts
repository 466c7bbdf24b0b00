import { entriesOf } from '../../../parts/fact.ts';
import type { Machine, Transition } from '../../../parts/states.ts';
import { isDone } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import { dueIn, fireOnRow } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import { type Leaving, waysOut } from './left-in-time.ts';

/** How a row gets into a state from which the clock takes it, some time after it was made: the first way of callers out of a state in which nothing is due by then. */
export function enteredLater(model: Model, machine: Machine, timed: Transition, state: string): readonly Transition[] {
  const halfMs = (timed.after?.ms ?? 0) / 2;
  const transitions = entriesOf(machine.transitions).map(([, transition]) => transition);
  const isQuiet = (from: string) =>
    transitions.every((one) => {
      const isFrom = one.from === '*' || one.from.includes(from);
      return !isFrom || (!one.atTime && (!one.after || one.after.ms > 2 * halfMs));
    });
  const way = transitions.find(({ name, from, to, if: condition }) => {
    const leads = to.length === 1 && to[0]?.state === state && !condition;
    const [first] = from === '*' ? [] : from;
    const isElsewhere = first !== undefined && from !== '*' && !from.includes(state);
    return leads && isElsewhere && isQuiet(first) && model.endpointOfTransition(machine.resource, name) !== undefined;
  });
  return timed.after && way ? [way] : [];
}

/** The reason of a claim that the time of a state counts from when it was entered, and not from when the row was made. */
export function laterBy(timed: Transition, entering: Transition): string {
  return `${timed.name}, entered later by ${entering.name}`;
}

/** A row that has been elsewhere for half of the time that it may be in a state before it enters that. */
export async function enterLater(session: Session, machine: Machine, timed: Transition, entering: Transition): Promise<TrialRow> {
  const { model } = session;
  const endpoint = model.endpointOfTransition(machine.resource, entering.name);
  const [from] = entering.from === '*' ? [] : entering.from;
  session.need(endpoint !== undefined && from !== undefined && timed.after !== undefined, 'no caller can fire it');
  session.need(session.run.clock.advance !== undefined, 'it takes a clock that can be moved');
  session.need(!endsWithin(model, session, 2 * timed.after.ms), 'the tokens that were given end before that');
  const row = await session.make(machine.resource, { machine, state: from });
  await session.wait(timed.after.ms / 2);
  const done = await fireOnRow(session, row, endpoint, entering);
  session.need(isDone(done.value), `${entering.name} was answered ${done.value.status}`);
  return row;
}

/** A transition of callers that takes a row out of a state, and one by which it comes to it again. */
interface Return {
  readonly leaving: Leaving;
  readonly entering: Transition;
}

/** The ways out of a state that the clock ends, and back into it. */
export function waysThere(model: Model, machine: Machine, timed: Transition, state: string): readonly Return[] {
  return waysOut(model, machine, timed, state).flatMap((leaving) => {
    const [target] = leaving.by.to;
    return entriesOf(machine.transitions).flatMap(([name, entering]): Return[] => {
      const leads = entering.to.length === 1 && entering.to[0]?.state === state && !entering.if;
      const isOpen = entering.from === '*' || (target !== undefined && entering.from.includes(target.state));
      return leads && isOpen && model.endpointOfTransition(machine.resource, name) ? [{ leaving, entering }] : [];
    });
  });
}

/** A row that left the state when half of its time there was over, and has come to it again: that time is forgotten. @throws {Untestable} */
export async function comeAgain(session: Session, machine: Machine, { leaving, entering }: Return): Promise<TrialRow> {
  const { model } = session;
  session.need(session.run.clock.advance !== undefined, 'it takes a clock that can be moved');
  const row = await session.make(machine.resource, { machine, state: leaving.state });
  await lookAt(session, row);
  const dueMs = dueIn(session, row, leaving.timed);
  session.need(dueMs !== undefined && dueMs > 0, `when ${leaving.timed.name} is due is not shown`);
  await session.wait(dueMs / 2);
  for (const transition of [leaving.by, entering]) {
    const endpoint = model.endpointOfTransition(machine.resource, transition.name);
    session.need(endpoint !== undefined, 'no caller can fire it');
    const done = await fireOnRow(session, row, endpoint, transition);
    session.need(isDone(done.value), `${transition.name} was answered ${done.value.status}`);
  }
  return row;
}

/** Transitions of callers from a state into itself: with each of them its time begins anew. */
export function waysBack(model: Model, machine: Machine, timed: Transition, state: string): Transition[] {
  if (!timed.after) return [];
  return entriesOf(machine.transitions).flatMap(([name, transition]) => {
    const isBack = transition.to.length === 1 && transition.to[0]?.state === state && transition.from !== '*';
    const isOpen = isBack && transition.from.includes(state) && model.endpointOfTransition(machine.resource, name) !== undefined;
    return isOpen ? [transition] : [];
  });
}

/** The reason of a claim that a transition of the clock waits its whole time once another has begun that anew. */
export function begunAnew(timed: Transition, again: Transition): string {
  return `${timed.name}, begun anew by ${again.name}`;
}

/** A row that had been in a state for half of the time that it may be when it entered it again. */
export async function enteredAgain(
  session: Session,
  machine: Machine,
  again: Transition,
  { state, timed }: { readonly state: string; readonly timed: Transition },
): Promise<TrialRow> {
  const endpoint = session.model.endpointOfTransition(machine.resource, again.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const row = await session.make(machine.resource, { machine, state });
  await session.wait((timed.after?.ms ?? 0) / 2);
  const done = await fireOnRow(session, row, endpoint, again);
  session.need(isDone(done.value), `${again.name} was answered ${done.value.status}`);
  return row;
}
