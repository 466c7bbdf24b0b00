import type { Machine } from '../../../parts/states.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { openTo } from '../../make/opened.ts';
import { factsOfFiring, fireable } from '../../make/transitions.ts';
import { statesOf } from '../../make/walk.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { carryOut, refuseFiring } from './fired.ts';

/** Every transition that a caller can fire, from every state: it leads where it is said to, or is refused and changes nothing. */
export const transitions: Trial = {
  name: 'states/transitions',
  part: 'states',
  about:
    'Every transition from every state: the legal ones lead where they are said to, the others are refused and change nothing.',
  noise: 'quiet',
  *cases(model) {
    for (const { machine, transition } of fireable(model)) {
      const facts = factsOfFiring(model, machine, transition);
      for (const state of statesOf(machine)) {
        const isLegal = transition.from === '*' || transition.from.includes(state);
        const name = `${transition.name} ${machine.resource} from ${state}`;
        const make = (session: Session) =>
          isLegal ? fullest(session, machine, state) : session.make(machine.resource, { machine, state });
        if (!isLegal) {
          yield {
            name,
            facts,
            run: async (session) => refuseFiring(session, await make(session), { machine, transition, state }),
          };
          continue;
        }
        // Of several ways on, each is gone.
        const targets = transition.to.length === 1 ? [undefined] : transition.to.map((target) => target.state);
        for (const target of targets) {
          yield {
            name: target === undefined ? name : `${name} to ${target}`,
            facts,
            async run(session) {
              const row = await make(session);
              await openTo(session, row, transition, target);
              await carryOut(session, row, { machine, transition, state, ...(target !== undefined && { target }) });
            },
          };
        }
      }
    }
  },
};

/** A row with all that it can have, or with less where that is more than the service's own rules allow. @throws {Untestable} */
async function fullest(session: Session, machine: Machine, state: string): Promise<TrialRow> {
  try {
    return await session.make(machine.resource, { machine, state, style: 'full' });
  } catch (error) {
    if (!(error instanceof Untestable)) throw error;
    return session.make(machine.resource, { machine, state });
  }
}
