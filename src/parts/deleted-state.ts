import type { Resource } from './resources.ts';
import type { Spec } from './spec.ts';
import { transitionNamed } from './states.ts';

/** The state that a deleted row is in for the transition that brings it back: the one that this leaves. No other row is ever in it. */
export function stateOfDeleted({ states }: Spec, { name, kept }: Resource): string | undefined {
  const transition = kept?.restore === undefined ? undefined : transitionNamed(states, name, kept.restore);
  return transition && transition.from !== '*' && transition.from.length === 1 ? transition.from[0] : undefined;
}
