import { entriesOf } from '../../../parts/fact.ts';
import { type Machine, machinesOf, type Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import { makeWhere } from '../../make/row-where.ts';
import { dueIn, fireOnRow } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';

/** A transition of the clock, a state that it leaves, and what a caller leaves it by before that is due. */
export interface Leaving {
  readonly timed: Transition;
  readonly state: string;
  readonly by: Transition;
}

/** The ways of callers out of a state, to one that the clock does nothing to. */
export function waysOut(model: Model, machine: Machine, timed: Transition, state: string): Leaving[] {
  const transitions = entriesOf(machine.transitions).map(([, transition]) => transition);
  const isTimed = (from: string) =>
    transitions.some((one) => (one.after ?? one.atTime) && (one.from === '*' || one.from.includes(from)));
  return transitions.flatMap((by) => {
    const [target, ...others] = by.to;
    const isLegal = by.from !== '*' && by.from.includes(state);
    if (!isLegal || !target || others.length > 0 || target.if || target.state === state || isTimed(target.state)) return [];
    return model.endpointOfTransition(machine.resource, by.name) ? [{ timed, state, by }] : [];
  });
}

/** A row that has left its state before the clock was to take it out of there stays where it went. */
export async function leaveInTime(session: Session, machine: Machine, { timed, state, by }: Leaving): Promise<void> {
  const { model } = session;
  const endpoint = model.endpointOfTransition(machine.resource, by.name);
  session.need(endpoint !== undefined && session.run.clock.advance !== undefined, 'it takes a clock that can be moved');
  const row = await session.make(machine.resource, { machine, state });
  const { made } = row;
  session.need(made !== undefined, `rows of ${machine.resource} are given, not made`);
  await lookAt(session, row);
  const dueMs = dueIn(session, row, timed);
  session.need(dueMs !== undefined && dueMs > 0, `when ${timed.name} is due is not shown`);
  session.need(!endsWithin(model, session, 2 * dueMs), 'the tokens that were given end before that');
  await session.wait(dueMs / 2);
  const fired = await fireOnRow(session, row, endpoint, by);
  session.need(isDone(fired.value), `${by.name} was answered ${fired.value.status}`);
  const before = (await lookAt(session, row)).done;
  await session.wait(dueMs);
  const after = (await lookAt(session, row)).done;
  const stateIn = (creation: TrialExchange, seen: TrialExchange) => rowWith(model, seen, idIn(model, creation))?.[machine.field];
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: `${timed.name} left behind`,
    at: timed.at,
    of: [made, before, after] as const,
    judge(creation: TrialExchange, was: TrialExchange, seen: TrialExchange): Judgement {
      const [then, now] = [stateIn(creation, was), stateIn(creation, seen)];
      if (then !== by.to[0]?.state || now === undefined) return moot('the row is not shown');
      return now === then
        ? undefined
        : { promised: `${asText(then)}, since ${timed.name} is from ${state} alone`, seen: asText(now) };
    },
  });
}

/** A row for which the condition of a transition of the clock does not hold stays in its state, however much time goes by. */
export async function stayBehind(session: Session, machine: Machine, { timed, state }: Omit<Leaving, 'by'>): Promise<void> {
  const { model } = session;
  const condition = timed.if;
  session.need(condition !== undefined && session.run.clock.advance !== undefined, 'it takes a clock that can be moved');
  const row = await makeWhere(session, machine.resource, { machine, state }, condition, false);
  const { made } = row;
  session.need(made !== undefined, `rows of ${machine.resource} are given, not made`);
  const before = (await lookAt(session, row)).done;
  const dueMs = dueIn(session, row, timed);
  session.need(dueMs !== undefined && dueMs > 0, `when ${timed.name} would be due is not shown`);
  session.need(!endsWithin(model, session, 2 * dueMs), 'the tokens that were given end before that');
  await session.wait(dueMs + Math.min(dueMs / 4, 60_000));
  const after = (await lookAt(session, row)).done;
  const rowOf = (creation: TrialExchange, seen: TrialExchange) => rowWith(model, seen, idIn(model, creation));
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: `${timed.name} held back`,
    at: condition.at,
    of: [made, before, after] as const,
    judge(creation: TrialExchange, was: TrialExchange, seen: TrialExchange): Judgement {
      const [then, now] = [rowOf(creation, was), rowOf(creation, seen)];
      if (then?.[machine.field] !== state || !now) return moot('the row is not shown in that state');
      const evaluated = model.expressions.evaluate(condition, undefined, { context: { resource: then, next: then } });
      if (typeof evaluated !== 'object' || evaluated.value !== false) return moot('whether its condition holds is not known');
      return now[machine.field] === state
        ? undefined
        : { promised: `${state} for as long as ${condition.source} does not hold`, seen: asText(now[machine.field]) };
    },
  });
}

/** For each other machine of the row a transition of callers from the state that it begins in: it is another machine's time that begins anew. */
export function waysAside(model: Model, { resource, key }: Machine): Transition[] {
  return machinesOf(model.spec.states, resource).flatMap((other) => {
    const [initial] = other.initial;
    const way = entriesOf(other.transitions).find(
      ([name, { from, if: condition }]) =>
        !condition && initial && (from === '*' || from.includes(initial.state)) && model.endpointOfTransition(resource, name),
    );
    return other.key !== key && way ? [way[1]] : [];
  });
}

/** Fires it. @throws {Untestable} where it is refused. */
export async function moveAside(session: Session, row: TrialRow, transition: Transition): Promise<void> {
  const endpoint = session.model.endpointOfTransition(row.resource, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const done = await fireOnRow(session, row, endpoint, transition);
  session.need(isDone(done.value), `${transition.name} was answered ${done.value.status}`);
}
