import { nearest } from '../../document/nearest.ts';
import { valueAt } from '../../document/place.ts';
import { below } from '../../document/pointer.ts';
import { type Effect, resourceVerbs } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { machinesOf, transitionsOf } from '../../parts/states.ts';
import type { Vocabulary } from './rule.ts';

/**
 * The endpoints whose effect names what is not there, each with the operation that was most likely meant. One finding says
 * so; what other parts say of that operation is no mistake of theirs.
 */
export function misspeltEffects(
  spec: Spec,
  endpoints: readonly Endpoint[],
  resources: Vocabulary,
): ReadonlyMap<Endpoint, string | undefined> {
  const misspelt = new Map<Endpoint, string | undefined>();
  for (const endpoint of endpoints) {
    const effect = statedValue(endpoint.does);
    if (!effect) {
      if (typeof valueAt(spec.document.tree, below(endpoint.at, 'does')) === 'string') misspelt.set(endpoint, undefined);
    } else if ('resource' in effect) {
      const meant = meantBy(spec, effect, resources);
      if (meant !== effect) misspelt.set(endpoint, typeof meant === 'string' ? meant : undefined);
    }
  }
  return misspelt;
}

type ResourceEffect = Extract<Effect, { resource: string }>;

/** The effect itself where it is there, or may be. */
function meantBy(spec: Spec, effect: ResourceEffect, resources: Vocabulary): ResourceEffect | string | undefined {
  const { resource } = effect;
  const word = effect.verb === 'transition' ? effect.transition : effect.verb;
  if (!resources.words.has(resource)) {
    if (!resources.closed) return effect;
    const meant = nearest(resource, resources.words);
    return meant === undefined ? undefined : `${word} ${meant}`;
  }
  const transitions = effect.verb === 'transition' ? knownTransitions(spec, resource) : undefined;
  if (!transitions || transitions.includes(word)) return effect;
  const meant = nearest(word, [...transitions, ...resourceVerbs]);
  return meant === undefined ? undefined : `${meant} ${resource}`;
}

/** Every transition of a resource; undefined where there may be more. */
export function knownTransitions({ states }: Spec, resource: string): string[] | undefined {
  if (states.all.standing === 'none') return [];
  if (!isStated(states.all)) return undefined;
  const machines = machinesOf(states, resource);
  if (machines.length === 0) return states.all.value[resource]?.standing === 'none' ? [] : undefined;
  const isWhole = machines.every(
    ({ others, transitions }) => !others && (isStated(transitions) || transitions.standing === 'none'),
  );
  return isWhole ? transitionsOf(states, resource).map(([name]) => name) : undefined;
}
