import { valueAt } from '../../document/place.ts';
import { below } from '../../document/pointer.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Machine, Target, Transition } from '../../parts/states.ts';
import { statesOf, unstated } from '../names.ts';
import { itemPlace } from '../operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../rule.ts';
import { isArrow } from './transitions.ts';

/** What a machine is of, and the states that it speaks of. */
export const machineRules: readonly Rule[] = [
  error(
    'states/unknown-resource',
    'A machine is stated for a resource that is not.',
    'Write the name of a stated resource.',
    ({ spec, names }) =>
      entriesOf(spec.states.all).flatMap(([name, { at }]) => unstated(names.resources, name, at, { onKey: true })),
  ),
  error(
    'states/of-a-value',
    'A machine is stated for a value, which is never changed by itself.',
    'Give the resource an identifier, or put the machine on the resource that holds it.',
    ({ machines, resources }) =>
      machines
        .filter(({ resource }) => resources.get(resource)?.identifier.standing === 'none')
        .map(({ resource, at }) => ({
          message: `\`${resource}\` has no identifier, so none is ever in a state.`,
          at,
          onKey: true,
        })),
  ),
  error(
    'states/unknown-state',
    'A transition or the initial state names a state that is not stated.',
    'Write the name of a state, or add it to `states`.',
    ({ machines, spec }) => machines.flatMap((machine) => stateNames(machine, spec.document.tree)),
  ),
  warning('states/state-twice', 'The list of states names one of them twice.', 'Keep one of the two.', (subject) =>
    subject.machines.flatMap(({ states }) => {
      const list = statedValue(states) ?? [];
      return list.flatMap((state, index) => {
        const first = list.indexOf(state);
        if (first === index) return [];
        const also = [{ message: 'It is first named here.', at: itemPlace(subject, states.at, list, first) }];
        return [{ message: `\`${state}\` is listed twice.`, at: itemPlace(subject, states.at, list, index), also }];
      });
    }),
  ),
];

function stateNames(machine: Machine, tree: Subject['spec']['document']['tree']): Wrong[] {
  const states = statesOf(machine);
  const targets = (list: readonly Target[]): Wrong[] =>
    list.flatMap(({ state, at }) => {
      const inner = below(at, 'state');
      return unstated(states, state, valueAt(tree, inner) === undefined ? at : inner);
    });
  const sources = ({ from, at }: Transition): Wrong[] => {
    if (from === '*') return [];
    const place = below(at, 'from');
    const value = valueAt(tree, place);
    return from.flatMap((state, index) => {
      if (value === undefined) return unstated(states, state, at);
      return unstated(states, state, Array.isArray(value) ? below(place, index) : place);
    });
  };
  const written = isStated(machine.transitions) ? Object.values(machine.transitions.value) : [];
  const transitions = written.filter(({ at }) => {
    const value = valueAt(tree, at);
    return typeof value !== 'string' || isArrow(value);
  });
  return [
    ...targets(machine.initial),
    ...transitions.flatMap((transition) => [...sources(transition), ...targets(transition.to)]),
  ];
}
