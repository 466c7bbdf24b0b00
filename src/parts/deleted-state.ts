import { entryOf } from './fact.ts';
import type { Resource } from './resources.ts';
import type { Spec } from './spec.ts';
import { machineOf } from './states.ts';

/** The state that a deleted row is in for the transition that brings it back: the one that this leaves. No other row is ever in it. */
export function stateOfDeleted({ states }: Spec, { name, kept }: Resource): string | undefined {
  const machine = kept?.restore === undefined ? undefined : machineOf(states, name);
  const transition = machine && entryOf(machine.transitions, kept?.restore ?? '');
  return transition && transition.from !== '*' && transition.from.length === 1 ? transition.from[0] : undefined;
}
