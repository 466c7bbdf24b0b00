import { entriesOf } from '../../../parts/fact.ts';
import type { Machine, Transition } from '../../../parts/states.ts';
import { isDone } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { endsWithin } from '../../make/ends.ts';
import { fireOnRow } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';

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
