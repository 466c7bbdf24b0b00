import { entriesOf } from '../../parts/fact.ts';
import { type Machine, machineOf, type Transition } from '../../parts/states.ts';
import { lookAt } from '../make/look.ts';
import { statesOf } from '../make/walk.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import { moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Trial } from '../trial.ts';
import { factsOf } from './transitions.ts';

/** What the clock does, it does when it is due, and not before. */
export const timed: Trial = {
  name: 'states/timed',
  part: 'states',
  about: 'A transition of the clock comes when it is due, and not before.',
  noise: 'loud',
  *cases(model) {
    for (const [resource] of entriesOf(model.spec.resources.all)) {
      const machine = machineOf(model.spec.states, resource);
      for (const [, transition] of machine ? entriesOf(machine.transitions) : []) {
        if (!machine || !transition.after || transition.if || transition.to.some((target) => target.if)) continue;
        for (const state of transition.from === '*' ? statesOf(machine) : transition.from) {
          if (rivals(machine, transition, state)) continue;
          const name = `${transition.name} ${resource} from ${state}`;
          yield { name, facts: factsOf(machine), run: (session) => letTimePass(session, machine, transition, state) };
        }
      }
    }
  },
};

/** Whether the clock may have done something else to the row by then. */
function rivals(machine: Machine, transition: Transition, state: string): boolean {
  return entriesOf(machine.transitions).some(
    ([, other]) => other !== transition && (other.after || other.atTime) && (other.from === '*' || other.from.includes(state)),
  );
}

/** What can be waited for where the clock cannot be moved. */
const waitMsMax = 5_000;

async function letTimePass(session: Session, machine: Machine, transition: Transition, state: string): Promise<void> {
  const { model } = session;
  const dueMs = transition.after?.ms ?? 0;
  const { clock } = session.run;
  session.need(
    clock.advance !== undefined || dueMs <= waitMsMax,
    `the clock cannot be moved, and ${transition.after?.source} is long`,
  );
  const row = await session.make(machine.resource, { state });
  const { made } = row;
  session.need(made !== undefined, `rows of ${machine.resource} are given, not made`);
  const before = (await lookAt(session, row)).done;
  const marginMs = Math.min(dueMs / 4, 60_000);
  const early = await session.wait(dueMs - marginMs);
  const still = (await lookAt(session, row)).done;
  const late = await session.wait(2 * marginMs);
  const after = (await lookAt(session, row)).done;
  const targets = transition.to.map((target) => target.state);
  const stateIn = (creation: Exchange, seen: Exchange) => rowWith(model, seen, idIn(model, creation))?.[machine.field];
  const fact = { kind: 'transitions', subject: machine.resource };
  session.claim({
    ...{
      fact,
      reason: `${transition.name} not before`,
      at: transition.after?.at ?? transition.at,
      of: [made, before, early, still] as const,
    },
    judge(creation: Exchange, was: Exchange, _waited: null, seen: Exchange) {
      if (!isDone(creation) || stateIn(creation, was) !== state || !isDone(seen)) return moot('it was not in that state');
      const now = stateIn(creation, seen);
      // How long it took to get there is not known to the second.
      if (seen.toMs - was.fromMs >= dueMs) return moot('it took too long');
      return now === state
        ? undefined
        : { promised: `${state} until ${transition.after?.source} have gone by`, seen: String(now) };
    },
  });
  session.claim({
    ...{
      fact,
      reason: `${transition.name} in time`,
      at: transition.after?.at ?? transition.at,
      of: [made, before, early, late, after] as const,
    },
    judge(creation: Exchange, was: Exchange, _early: null, _late: null, seen: Exchange) {
      if (!isDone(creation) || stateIn(creation, was) !== state || !isDone(seen)) return moot('it was not in that state');
      if (seen.fromMs - was.toMs < dueMs) return moot('not so much time has gone by');
      const now = stateIn(creation, seen);
      const isThere = typeof now === 'string' && targets.includes(now);
      return isThere
        ? undefined
        : { promised: `${targets.join(' or ')} once ${transition.after?.source} have gone by`, seen: String(now) };
    },
  });
}
