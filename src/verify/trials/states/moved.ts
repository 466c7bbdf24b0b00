import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf } from '../../../parts/fact.ts';
import { allMachines, type Machine, stateOfDeleted, type Target, type Transition } from '../../../parts/states.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { bodyToward } from '../../make/opened.ts';
import { factsOfFiring, factsOfMachine, fireable } from '../../make/transitions.ts';
import { openToFire, statesOf } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { carryOut, refuseFiring } from './fired.ts';

/** Whether another target of a transition leads to the same state. */
function sharesState({ to }: Transition, target: Target): boolean {
  return to.some((one) => one !== target && one.state === target.state);
}

/** The state of a target, and what tells it from others of the same state: its answer, or its condition. */
function namedTarget(transition: Transition, target: Target): string {
  if (!sharesState(transition, target)) return target.state;
  const apart = target.answer ?? (target.if ? `if ${target.if.source}` : 'otherwise');
  return `${target.state} (${apart})`;
}

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
            for (const target of transition.to) {
              // What is in the state already stays as it is, and another one may lead there.
              if (target.state === state || leadingTo(machine, update, state, target.state) !== transition) continue;
              const firing = { machine: machine, transition, state, target, update };
              yield {
                name: `${transition.name} ${resource} from ${state} to ${namedTarget(transition, target)} by ${update.key}`,
                facts,
                run: async (session) => {
                  const body =
                    sharesState(transition, target) && isLegal ? bodyToward(session, resource, transition, target) : undefined;
                  const row = await session.make(resource, { machine, state, ...(body && { body }) });
                  if (!isLegal) return refuseFiring(session, row, firing);
                  if (sharesState(transition, target)) await openToFire(session, row, transition, target);
                  await carryOut(session, row, firing);
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
      const to: Target = { state: target, at: any.at };
      const transition: Transition = { ...plain, name: `a move to ${target}`, from: [target], to: [to] };
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
              target: to,
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
        const targets = transition.to.length === 1 ? [undefined] : transition.to;
        for (const target of targets) {
          yield {
            name: target === undefined ? name : `${name} to ${namedTarget(transition, target)}`,
            facts,
            async run(session) {
              const body = target && bodyToward(session, machine.resource, transition, target);
              const row = await (body ? session.make(machine.resource, { machine, state, body }) : make(session));
              await openToFire(session, row, transition, target);
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
