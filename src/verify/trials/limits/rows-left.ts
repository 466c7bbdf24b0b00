import { entriesOf } from '../../../parts/fact.ts';
import type { RowLimit } from '../../../parts/row-limits.ts';
import { type Machine, machinesOf, type Transition } from '../../../parts/states.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { fireOnRow } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';

import { type FullHouse, rowAsked, rowLimitFact } from './row-plans.ts';

/** A transition by which a row no longer counts. */
export interface WayOut {
  readonly machine: Machine;
  readonly transition: Transition;
  readonly state: string;
}

/** So many ways out of what counts are tried. */
export const leavingMost = 3;

/** The transitions out of the states in which rows count, that callers fire on a new one. */
export function leavings(model: Model, { of, while: condition }: RowLimit): readonly WayOut[] {
  if (!condition) return [];
  return machinesOf(model.spec.states, of).flatMap((machine) => {
    const counts = (state: string) => {
      const told = model.expressions.evaluate(condition, undefined, { context: { next: { [machine.field]: state } } });
      return typeof told === 'object' ? told.value : undefined;
    };
    const [initial, ...others] = machine.initial;
    if (!initial || others.length > 0 || counts(initial.state) !== true) return [];
    return entriesOf(machine.transitions).flatMap(([name, transition]): WayOut[] => {
      const [target, ...targets] = transition.to;
      const isOpen = transition.from === '*' || transition.from.includes(initial.state);
      const isLeaving = target !== undefined && targets.length === 0 && counts(target.state) === false;
      return isOpen && isLeaving && model.endpointOfTransition(of, name) ? [{ machine, transition, state: target.state }] : [];
    });
  });
}

/** What has to be seen of a limit of rows that count in some states alone, by the reasons of its claims. */
export function leavingLooks(model: Model, rule: RowLimit): readonly string[] {
  return leavings(model, rule).slice(0, leavingMost).map(leftBy);
}

const leftBy = ({ transition }: WayOut): string => `room again by ${transition.name}`;

/** One that is moved out of the states that count makes room for one. */
export async function claimLeft(
  session: Session,
  { rule, plan, isFull, promised }: FullHouse,
  alone: readonly Done<TrialExchange>[],
  full: Done<TrialExchange>,
): Promise<void> {
  for (const [at, leaving] of leavings(session.model, rule).slice(0, leavingMost).entries()) {
    const one = alone[at];
    const endpoint = session.model.endpointOfTransition(rule.of, leaving.transition.name);
    if (!one || !isDone(one.value) || !endpoint) return;
    const row = await rowAsked(session, { rule, plan }, one);
    const left = await ifTestable(fireOnRow(session, row, endpoint, leaving.transition, leaving.state));
    if (!left) continue;
    const again = await session.send(await plan());
    session.claim({
      fact: rowLimitFact(rule),
      reason: leftBy(leaving),
      at: rule.at,
      of: [full, left, again],
      tries: 1,
      judge: (before: TrialExchange, moved: TrialExchange, seen: TrialExchange): Judgement => {
        if (!isFull(before) || !isDone(moved)) return moot('none left a full house');
        if (!isDone(seen) && !isFull(seen)) return moot('something else stood in its way');
        return isDone(seen)
          ? undefined
          : { promised: `${promised}, while ${rule.while?.source}`, seen: `none was made where one was ${leaving.state}` };
      },
    });
  }
}
