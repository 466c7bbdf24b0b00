import { type Fact, isStated } from '../fact.ts';
import type { Spec } from '../spec.ts';
import { type Machine, machinesOf } from '../states.ts';
import { type FactInstance, type FactKind, follows, instance } from './kind.ts';

/** States and transitions: per resource with an identifier. */
export const stateFacts: readonly FactKind[] = [
  {
    part: 'states',
    kind: 'states',
    arises: (spec) =>
      perResource(
        spec,
        (machine) => machine.states,
        (machine) => machine.others,
      ),
    whenOpen: 'Nothing: the resource has no machine.',
  },
  {
    part: 'states',
    kind: 'transitions',
    arises: (spec) =>
      perResource(
        spec,
        (machine) => machine.transitions,
        (machine) => machine.others,
      ),
    whenOpen: 'An operation that would be a transition answers 501.',
  },
];

function perResource(
  spec: Spec,
  pick: (machine: Machine) => Fact<unknown>,
  others: (machine: Machine) => Fact<unknown> | undefined,
): FactInstance[] {
  const { all } = spec.resources;
  const { states } = spec;
  if (!isStated(all)) return all.standing === 'none' ? [] : [instance('service', states.all)];
  const identified = Object.values(all.value).filter((resource) => resource.identifier.standing !== 'none');
  return identified.flatMap(({ name }): FactInstance[] => {
    if (!isStated(states.all)) return [follows(name, `${states.at}/${name}`, states.all)];
    const own = states.all.value[name];
    const machines = machinesOf(states, name);
    if (!own && machines.length === 0)
      return [{ subject: name, at: `${states.at}/${name}`, standing: states.others?.standing === 'any' ? 'any' : 'open' }];
    if (own && !isStated(own)) return [instance(name, own)];
    return machines.flatMap((machine) => {
      const rest = others(machine);
      return [instance(machine.key, pick(machine)), ...(rest ? [instance(`${machine.key}, others`, rest)] : [])];
    });
  });
}
