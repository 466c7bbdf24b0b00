import { entriesOf } from '../../parts/fact.ts';
import type { Machine, Transition } from '../../parts/states.ts';
import { fireOnRow } from '../make/walk.ts';
import type { Model } from '../model/model.ts';
import { isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Trial } from '../trial.ts';
import { carryOut } from './fired.ts';
import { factsOfFiring, fireable } from './transitions.ts';

/** How a state was come to makes no difference to what can be done in it: every transition after every other that leads to it. */
export const pairs: Trial = {
  name: 'states/pairs',
  part: 'states',
  about: 'A transition does the same whichever other one has led to the state that it is fired in.',
  noise: 'quiet',
  *cases(model) {
    for (const { machine, transition } of fireable(model)) {
      const facts = factsOfFiring(model, machine, transition);
      const ways = shortestWays(model, machine);
      for (const { machine: other, transition: first } of fireable(model)) {
        if (other.resource !== machine.resource || transition.from === '*' || first.from === '*') continue;
        for (const { state } of first.to) {
          // The shortest way into a state is gone by all other trials.
          if (!transition.from.includes(state) || ways.get(state) === first.name || first.from.includes(state)) continue;
          const [from = ''] = first.from;
          yield {
            name: `${transition.name} after ${first.name} of ${machine.resource} in ${from} to ${state}`,
            facts,
            run: (session) => fireBoth(session, machine, { first, from, transition, state }),
          };
        }
      }
    }
  },
};

/** The last transition of the shortest way of callers into each state. */
export function shortestWays(model: Model, machine: Machine): ReadonlyMap<string, string | undefined> {
  const ways = new Map<string, string | undefined>(machine.initial.map(({ state }) => [state, undefined]));
  // Entries that are added while the map is gone through are gone through as well: breadth first.
  for (const [state] of ways) {
    for (const [name, { from, to }] of entriesOf(machine.transitions)) {
      if ((from !== '*' && !from.includes(state)) || !model.endpointOfTransition(machine.resource, name)) continue;
      for (const target of to) if (!ways.has(target.state)) ways.set(target.state, name);
    }
  }
  return ways;
}

interface Both {
  readonly first: Transition;
  readonly from: string;
  readonly transition: Transition;
  readonly state: string;
}

async function fireBoth(session: Session, machine: Machine, { first, from, transition, state }: Both): Promise<void> {
  const endpoint = session.model.endpointOfTransition(machine.resource, first.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const row = await session.make(machine.resource, { state: from, style: 'full' });
  const done = await fireOnRow(session, row, endpoint, first, state);
  session.need(isDone(done.value), `${first.name} was answered ${done.value.status}`);
  await carryOut(session, row, { machine, transition, state });
}
