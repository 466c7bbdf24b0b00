import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf } from '../../../parts/fact.ts';
import { allMachines, type Machine, type Transition } from '../../../parts/states.ts';
import { factsOfFiring } from '../../make/transitions.ts';
import { statesOf } from '../../make/walk.ts';
import type { Trial } from '../../session/trial.ts';
import { carryOut, refuseFiring } from './fired.ts';

/** An update that sends another state is the transition that leads there, from every state, or is refused. */
export const movedByUpdate: Trial = {
  name: 'states/moved by update',
  part: 'states',
  about: 'An update that sends a state is the transition that leads there; where none does, it is refused and changes nothing.',
  noise: 'quiet',
  *cases(model) {
    for (const machine of allMachines(model.spec.states)) {
      const { resource } = machine;
      for (const [, transition] of entriesOf(machine.transitions)) {
        for (const update of model.updatesOf(resource, transition)) {
          const facts = factsOfFiring(model, machine, transition);
          for (const state of statesOf(machine)) {
            const isLegal = transition.from === '*' || transition.from.includes(state);
            for (const { state: target } of transition.to) {
              // What is in the state already stays as it is, and another one may lead there.
              if (target === state || leadingTo(machine, update, state, target) !== transition) continue;
              const firing = { machine: machine, transition, state, target, update };
              yield {
                name: `${transition.name} ${resource} from ${state} to ${target} by ${update.key}`,
                facts,
                run: async (session) => {
                  const row = await session.make(resource, { machine, state });
                  await (isLegal ? carryOut(session, row, firing) : refuseFiring(session, row, firing));
                },
              };
            }
          }
        }
      }
    }
  },
};

/** The transition that an update to a state is, or would be if it could. */
function leadingTo({ transitions }: Machine, { operation }: Endpoint, from: string, to: string): Transition | undefined {
  const leading = entriesOf(transitions)
    .map(([, transition]) => transition)
    .filter((one) => one.on?.includes(operation) && one.to.some(({ state }) => state === to));
  return leading.find((one) => one.from === '*' || one.from.includes(from)) ?? leading[0];
}
