import { stateOfDeleted } from '../../../parts/deleted-state.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf } from '../../../parts/fact.ts';
import { allMachines, type Machine, type Transition } from '../../../parts/states.ts';
import { factsOfFiring, factsOfMachine } from '../../make/transitions.ts';
import { statesOf } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import type { Case, Trial } from '../../session/trial.ts';
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
      yield* nowhere(model, machine);
    }
  },
};

/** A state that no transition of an update leads to from anywhere is not for that update to send. */
function* nowhere(model: Model, machine: Machine): Iterable<Case> {
  const { resource } = machine;
  const moves = entriesOf(machine.transitions).map(([, transition]) => transition);
  const updates = new Set(moves.flatMap((transition) => model.updatesOf(resource, transition)));
  const stated = model.resource(resource);
  const deleted = stated && stateOfDeleted(model.spec, stated);
  for (const update of updates) {
    const [any] = moves.filter(({ on }) => on?.includes(update.operation));
    for (const target of statesOf(machine)) {
      if (!any || target === deleted || leadingTo(machine, update, target, target)) continue;
      const { else: _own, if: _condition, following: _then, ...plain } = any;
      // Sent to a row that is there already it changes nothing.
      const transition: Transition = {
        ...plain,
        name: `a move to ${target}`,
        from: [target],
        to: [{ state: target, at: any.at }],
      };
      for (const state of statesOf(machine)) {
        if (state === target || state === deleted) continue;
        yield {
          name: `${resource} from ${state} to ${target} by ${update.key}`,
          facts: factsOfMachine(machine),
          run: async (session) =>
            refuseFiring(session, await session.make(resource, { machine, state }), {
              machine,
              transition,
              state,
              target,
              update,
            }),
        };
      }
    }
  }
}

/** Whether an update may ask for a transition in a state in which it, and no other one that leads there, is not. */
export function isRefusedByUpdate(model: Model, machine: Machine, transition: Transition): boolean {
  return model
    .updatesOf(machine.resource, transition)
    .some((update) =>
      statesOf(machine).some(
        (state) =>
          transition.from !== '*' &&
          !transition.from.includes(state) &&
          transition.to.some(
            (target) => target.state !== state && leadingTo(machine, update, state, target.state) === transition,
          ),
      ),
    );
}

/** The transition that an update to a state is, or would be if it could. */
function leadingTo({ transitions }: Machine, { operation }: Endpoint, from: string, to: string): Transition | undefined {
  const leading = entriesOf(transitions)
    .map(([, transition]) => transition)
    .filter((one) => one.on?.includes(operation) && one.to.some(({ state }) => state === to));
  return leading.find((one) => one.from === '*' || one.from.includes(from)) ?? leading[0];
}
