import type { Pointer } from '../../document/document.ts';
import { above, below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap, isStanding } from '../../document/values.ts';
import { pullKinds } from '../../kinds/deliveries/all.ts';
import { readEffect } from '../../parts/effects.ts';
import { pullOf } from '../../parts/events.ts';
import { type Fact, isStated } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import { machinesOf, type Transition, transitionNamed } from '../../parts/states.ts';
import { unstated } from './names.ts';
import type { Subject, Wrong } from './rule.ts';

/** What is wrong with a list of operation names that stands at a place, as one word or as a list. */
export function unknownOperations(subject: Subject, names: readonly string[], at: Pointer): Wrong[] {
  return names.flatMap((name, index) => {
    const { operations } = subject.names;
    if (operations.words.has(name) || mayBeThere(subject, name) || isMeant(subject, name)) return [];
    const place = itemPlace(subject, at, names, index);
    const resource = name.startsWith('all ') ? name.slice('all '.length) : undefined;
    if (resource !== undefined && subject.resources.has(resource)) {
      if (!operations.closed) return [];
      const message = `No operation is about \`${resource}\`, so \`${name}\` names none.`;
      return [{ message, remedy: `Bind an endpoint to an operation on \`${resource}\`, or take \`${name}\` out.`, at: place }];
    }
    return unstated(operations, name, place, transitionRemedy(subject, name));
  });
}

/** Where one word of a list stands; a lone word stands where the list would. */
export function itemPlace(subject: Subject, at: Pointer, words: readonly string[], index: number): Pointer {
  return words.length > 1 || Array.isArray(valueAt(subject.spec.document.tree, at)) ? `${at}/${index}` : at;
}

/** The words that a list has a second time; `what` is what one of them is called: `The user `. */
export function namedTwice(subject: Subject, at: Pointer, words: readonly string[], what = ''): Wrong[] {
  return words.flatMap((word, index) => {
    const first = words.indexOf(word);
    if (first === index) return [];
    const also = [{ message: 'It is first named here.', at: itemPlace(subject, at, words, first) }];
    return [{ message: `${what}\`${word}\` is named twice.`, at: itemPlace(subject, at, words, index), also }];
  });
}

/** An operation that a misspelt endpoint was most likely to be. */
export function isMeant({ misspelt }: Subject, name: string): boolean {
  return misspelt.size > 0 && [...misspelt.values()].includes(name);
}

/**
 * Whether other parts could speak of an operation: an endpoint whose effect is open has no name, a misspelt one not its own,
 * and `read ledger` is no part of the service.
 */
export function isSpokenOf({ misspelt }: Subject, { name, endpoint }: Operation): boolean {
  if (!endpoint) return name !== 'read ledger';
  return !misspelt.has(endpoint) && (isStated(endpoint.does) || name !== endpoint.key);
}

/** Where an operation that callers reach is stated. */
export function operationPlace({ spec }: Subject, { endpoint }: Operation): Pointer {
  return endpoint?.at ?? pullOf(spec.events)?.at ?? below(spec.events.at, 'delivery');
}

/** The stream of a delivery that is open, or a transition of a machine that is open, or not the whole. */
function mayBeThere({ spec }: Subject, name: string): boolean {
  const { states, events } = spec;
  if (pullKinds.some(({ operation }) => operation === name)) return isSaidOpen(spec, events.delivery);
  const effect = readEffect(name);
  if (effect?.verb !== 'transition') return false;
  if (!isStated(states.all))
    return isSaidOpen(spec, states.all) || (states.all.standing !== 'none' && spec.endpoints.others !== undefined);
  const machines = machinesOf(states, effect.resource);
  if (machines.length === 0) return isOpen(states.all.value[effect.resource]?.standing ?? (states.others ? 'open' : 'none'));
  return machines.some(
    ({ others, transitions }) =>
      others !== undefined || !isStated(transitions) || hasTrigger(spec, transitions.value[effect.transition]),
  );
}

/** A trigger that cannot be read fires the transition all the same. */
function hasTrigger({ document }: Subject['spec'], transition: Transition | undefined): boolean {
  const words = transition && valueAt(document.tree, transition.at);
  return isStanding(words) || (isMap(words) && ['after', 'at', 'by'].some((word) => words[word] !== undefined));
}

/** Whether a fact is open because its author says so, or says so of the part that it is in. */
function isSaidOpen({ document }: Subject['spec'], { standing, at }: Fact<unknown>): boolean {
  return isOpen(standing) && [at, above(at) ?? ''].some((place) => place !== '' && isStanding(valueAt(document.tree, place)));
}

function isOpen(standing: string): boolean {
  return standing === 'open' || standing === 'any';
}

/** A transition that is stated, and that nothing fires, is spoken of in vain. */
function transitionRemedy({ spec }: Subject, name: string): Partial<Wrong> {
  const effect = readEffect(name);
  if (effect?.verb !== 'transition') return {};
  if (!transitionNamed(spec.states, effect.resource, effect.transition)) return {};
  return {
    message: `No endpoint fires the transition \`${name}\`.`,
    remedy: `Bind an endpoint to it: \`does: ${name}\`.`,
  };
}
