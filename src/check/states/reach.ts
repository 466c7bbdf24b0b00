import { isStated, statedValue } from '../../parts/fact.ts';
import type { Machine, Transition } from '../../parts/states.ts';
import { isMeant, itemPlace } from '../operation-names.ts';
import { type Rule, type Subject, type Wrong, warning } from '../rule.ts';
import { eachTransition, verbs, wordsAt } from './transitions.ts';

/** Which states are entered and left, and which transitions ever happen. */
export const reachRules: readonly Rule[] = [
  warning(
    'states/unreachable',
    'A state is not initial, and no chain of transitions leads to it.',
    'Add a transition to it, or take it out.',
    (subject) => subject.machines.flatMap((machine) => unreachable(subject, machine)),
  ),
  warning(
    'states/never-left',
    'A state has ways out, so it is not final, and none that anything fires leads to another state.',
    'Bind an endpoint to one of them, or add a transition.',
    (subject) => subject.machines.flatMap((machine) => neverLeft(subject, machine)),
  ),
  warning(
    'states/never-fired',
    'A transition is fired by no endpoint, no clock and not by the service.',
    'Bind an endpoint to it, add `after` or `at`, or say `by: service`.',
    (subject) =>
      eachTransition(subject, (transition, { resource }) =>
        isFired(subject, transition, resource) || verbs.has(transition.name)
          ? []
          : [{ message: `Nothing fires \`${transition.name} ${resource}\`.`, at: transition.at, onKey: true }],
      ),
  ),
];

function unreachable(subject: Subject, { resource, states, transitions, initial, others }: Machine): Wrong[] {
  const isOpen = !isStated(transitions) && transitions.standing !== 'none';
  if (!isStated(states) || isOpen || others || initial.length === 0) return [];
  const reached = new Set(initial.map(({ state }) => state));
  const all = Object.values(statedValue(transitions) ?? {});
  const targets = [...initial, ...all.flatMap(({ to }) => to)];
  // What a misspelt state was to be is not known, so nothing is said of the others.
  if (all.some(({ from, to }) => from.length === 0 || to.length === 0)) return [];
  if (targets.some(({ state }) => !states.value.includes(state))) return [];
  for (let before = -1; before < reached.size; ) {
    before = reached.size;
    for (const { from, to } of all) {
      if (from === '*' || from.some((state) => reached.has(state))) for (const { state } of to) reached.add(state);
    }
  }
  return states.value.flatMap((state, index) =>
    reached.has(state)
      ? []
      : [{ message: `No \`${resource}\` can ever be \`${state}\`.`, at: itemPlace(subject, states.at, states.value, index) }],
  );
}

/**
 * No word of the language marks a state as final: one without a way out is. A state with ways out is not meant to be, so it
 * is a trap where each of them leads back to itself or is never fired.
 */
function neverLeft(subject: Subject, { resource, states, transitions, others }: Machine): Wrong[] {
  if (!isStated(states) || !isStated(transitions) || others) return [];
  const all = Object.values(transitions.value);
  const fired = all.filter((transition) => isFired(subject, transition, resource));
  return states.value.flatMap((state, index) => {
    const out = all.filter(({ from, to }) => from !== '*' && from.includes(state) && to.length > 0);
    const leaves = fired.some(
      ({ from, to }) => (from === '*' || from.includes(state)) && to.some((target) => target.state !== state),
    );
    if (out.length === 0 || leaves || states.value.length < 2) return [];
    return [
      { message: `A \`${resource}\` that is \`${state}\` stays so.`, at: itemPlace(subject, states.at, states.value, index) },
    ];
  });
}

/** Where the list of endpoints is open, or not the whole, an endpoint may fire it; a trigger that is open may be any. */
function isFired(subject: Subject, transition: Transition, resource: string): boolean {
  const words = wordsAt(subject, transition.at);
  const hasTrigger = words.after !== undefined || words.at !== undefined || words.by !== undefined;
  if (hasTrigger || !subject.names.operations.closed || subject.firedTransitions.has(transition)) return true;
  return isMeant(subject, `${transition.name} ${resource}`);
}
