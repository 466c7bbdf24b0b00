import type { Json } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap, isStanding } from '../../document/values.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { isSuppliedByService } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import type { Spec } from '../../parts/spec.ts';
import {
  type Machine,
  machineOn,
  machinesOf,
  machineWith,
  stateOfDeleted,
  type Target,
  type Transition,
} from '../../parts/states.ts';
import { stateVocabulary, unstated } from '../subject/names.ts';
import { isMeant, itemPlace } from '../subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';
import { eachTransition, effectVerbs, isArrow, wordsAt } from './transitions.ts';

/** What a machine is of, and the states that it speaks of. */
export const machineRules: readonly Rule[] = [
  error(
    'states/unknown-resource',
    'A machine is stated for a resource that is not.',
    'Write the name of a stated resource.',
    ({ spec, names }) =>
      entriesOf(spec.states.all).flatMap(([key, machine]) =>
        unstated(names.resources, statedValue(machine)?.resource ?? key, machine.at, { onKey: true }),
      ),
  ),
  error(
    'states/no-field',
    'A machine does not say which field holds the state.',
    'Write `field: status`, and state that field.',
    withoutField,
  ),
  error(
    'states/field-twice',
    'Two machines of a resource hold their states in one field.',
    'Give each machine a field of its own, or join the two.',
    ({ machines, spec }) =>
      machines.flatMap(({ resource, field, at, key }) => {
        const first = machinesOf(spec.states, resource).find((one) => one.field === field);
        if (!first || first.key === key) return [];
        const also = [{ message: 'It holds the states of this one.', at: first.at }];
        return [{ message: `\`${field}\` of a \`${resource}\` holds the states of another machine.`, at, onKey: true, also }];
      }),
  ),
  error(
    'states/transition-twice',
    'Two machines of a resource have a transition of one name, so no endpoint could mean one of them.',
    'Name one of them otherwise.',
    (subject) =>
      eachTransition(subject, ({ name, at }, { resource, key }) => {
        const first = machineWith(subject.spec.states, resource, name);
        const one = first && entryOf(first.transitions, name);
        if (!first || !one || first.key === key) return [];
        const also = [{ message: 'It has that name already.', at: one.at }];
        return [{ message: `\`${name} ${resource}\` is a transition of \`${first.key}\` too.`, at, onKey: true, also }];
      }),
  ),
  error(
    'states/none-and-some',
    'A resource is said to have no states, or they are open, and a machine of it is stated all the same.',
    'Take one of the two out.',
    ({ machines, spec }) =>
      machines.flatMap(({ resource, key, at }) => {
        const own = key === resource ? undefined : entryOf(spec.states.all, resource);
        if (!own || isStated(own)) return [];
        const also = [{ message: 'This stands beside it.', at: own.at }];
        return [{ message: `\`${resource}\` has states here.`, at, onKey: true, also }];
      }),
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

/** Where `field` is left out, though the fields of the resource and something of its machine are stated. */
function withoutField({ spec, resources }: Subject): Wrong[] {
  return entriesOf(spec.states.all).flatMap(([key, { standing, at }]) => {
    const place = at.endsWith('/field') ? at.slice(0, -'/field'.length) : at;
    const machine = valueAt(spec.document.tree, place);
    const resource = resources.get(key);
    if (standing !== 'open' || !resource || !isStated(resource.fields) || !isMap(machine) || isStanding(machine)) return [];
    if ('field' in machine || !('states' in machine || 'transitions' in machine)) return [];
    const message = `\`${key}\` does not say which field holds its state.`;
    const [fits, ...more] = fieldsThatFit(spec, resource, machine.states);
    const remedy = `Write \`field: ${fits}\`${more.map((one) => `, or \`field: ${one}\``).join('')}.`;
    return [{ message, at: place, onKey: true, ...(fits !== undefined && { remedy }) }];
  });
}

/** The fields whose values are the states; where there are none, those of text that nothing else writes. */
function fieldsThatFit({ states }: Spec, resource: Resource, named: Json | undefined): string[] {
  const free = entriesOf(resource.fields).filter(([name]) => machineOn(states, resource.name, name) === undefined);
  const wanted = new Set(Array.isArray(named) ? named : []);
  const listing = free.filter(([, { shape }]) => {
    const values = statedValue(shape)?.enum;
    return Array.isArray(values) && values.length === wanted.size && values.every((value) => wanted.has(value));
  });
  const unwritten = free.filter(
    ([name, field]) =>
      field.readOnly &&
      statedValue(field.shape)?.type === 'string' &&
      field.derive === undefined &&
      !isSuppliedByService(field, 'create') &&
      statedValue(resource.identifier)?.field !== name,
  );
  return (listing.length > 0 ? listing : unwritten).map(([name]) => name);
}

function stateNames(machine: Machine, tree: Subject['spec']['document']['tree']): Wrong[] {
  const states = stateVocabulary(machine);
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

/** Which states are entered and left, and which transitions ever happen. */
export const stateReachRules: readonly Rule[] = [
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
        isFired(subject, transition, resource) || effectVerbs.has(transition.name)
          ? []
          : [{ message: `Nothing fires \`${transition.name} ${resource}\`.`, at: transition.at, onKey: true }],
      ),
  ),
];

function unreachable(subject: Subject, { resource, states, transitions, initial, others }: Machine): Wrong[] {
  const isOpen = !isStated(transitions) && transitions.standing !== 'none';
  if (!isStated(states) || isOpen || others || initial.length === 0) return [];
  const stated = subject.resources.get(resource);
  const deleted = stated && stateOfDeleted(subject.spec, stated);
  const reached = new Set([...initial.map(({ state }) => state), ...(deleted === undefined ? [] : [deleted])]);
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
  if (hasTrigger || transition.on || !subject.names.operations.closed || subject.firedTransitions.has(transition)) return true;
  return isMeant(subject, `${transition.name} ${resource}`);
}
