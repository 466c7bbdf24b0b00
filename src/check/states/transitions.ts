import type { JsonMap } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap } from '../../document/values.ts';
import { durationMs } from '../../kinds/measures.ts';
import { resourceVerbs } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import { resolvedShape } from '../../parts/shape-level.ts';
import { isMovedByUpdate, type Machine, type Target, type Transition } from '../../parts/states.ts';
import { asWritten, shortJson, typesOf } from '../subject/json-types.ts';
import { fieldOf, fieldVocabulary, listed, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** How transitions are named, and what fires them. */
export const transitionRules: readonly Rule[] = [
  error(
    'states/verb-name',
    'A transition has the name of a verb of `does`, so no endpoint could mean it.',
    'Give the transition another name.',
    (subject) =>
      eachTransition(subject, ({ name, at }) =>
        effectVerbs.has(name) ? [{ message: `\`${name}\` is a verb of \`does\`.`, at, onKey: true }] : [],
      ),
  ),
  error(
    'states/name-with-space',
    'A transition has a space in its name, so no endpoint could mean it.',
    'Join the words: `hand_over`.',
    (subject) =>
      eachTransition(subject, ({ name, at }) =>
        /\s/.test(name)
          ? [
              {
                message: `\`${name}\` is more than one word.`,
                remedy: `Write \`${name.trim().replaceAll(/\s+/g, '_')}\`.`,
                at,
                onKey: true,
              },
            ]
          : [],
      ),
  ),
  error(
    'states/arrow',
    'The short form of a transition does not say where from and where to.',
    'Write `draft -> bought`.',
    (subject) =>
      eachTransition(subject, ({ name, at, from, to }) => {
        const value = valueAt(subject.spec.document.tree, at);
        if (typeof value !== 'string' || (from.length > 0 && to.length > 0 && isArrow(value))) return [];
        return [{ message: `\`${value}\` does not say from which state to which \`${name}\` goes.`, at }];
      }),
  ),
  error(
    'states/after',
    'The time after which a transition fires is no duration.',
    'Write a number and a unit: `30d`, `12h`, `5m`.',
    (subject) =>
      eachTransition(subject, ({ at }) => {
        const after = wordsAt(subject, at).after;
        if (after === undefined || isMap(after) || (typeof after === 'string' && durationMs(after) !== undefined)) return [];
        return [{ message: `${asWritten(after)} is no duration.`, at: below(at, 'after') }];
      }),
  ),
  error(
    'states/two-triggers',
    'A transition is fired in two ways that exclude each other.',
    'Keep one of `after`, `at` and `by: service`.',
    (subject) =>
      eachTransition(subject, ({ name, at }) => {
        const words = wordsAt(subject, at);
        const triggers = ['after', 'at', 'by'].filter((word) => words[word] !== undefined);
        if (triggers.length < 2) return [];
        return [{ message: `\`${name}\` has ${listed(triggers)}.`, at: below(at, triggers[1] as string), onKey: true }];
      }),
  ),
  error(
    'states/moved-by',
    'A transition is to be an update that no endpoint makes.',
    'Write the operation of an endpoint that updates the resource: `on: update issue`.',
    (subject) =>
      eachTransition(subject, ({ name, at, on = [] }, { resource }) =>
        on.flatMap((operation) => {
          const named = entriesOf(subject.spec.endpoints.all).find(([, one]) => one.operation === operation)?.[1];
          const effect = named && statedValue(named.does);
          if (effect?.verb === 'update' && effect.resource === resource) return [];
          if (!named && !subject.names.operations.closed) return [];
          const what = named ? `updates no \`${resource}\`` : 'is the operation of no endpoint';
          return [{ message: `\`${operation}\` ${what}, so it never is \`${name}\`.`, at: below(at, 'on') }];
        }),
      ),
  ),
  error(
    'states/answer',
    'An error is to be the answer where no caller waits for one.',
    'State `answer` at a target of a transition that an endpoint or an update (`on`) is, or where an endpoint makes the row.',
    (subject) => [
      ...subject.machines.flatMap(({ initial, resource }) => {
        const isMade = !subject.names.operations.closed || subject.endpoints.some((endpoint) => makes(endpoint, resource));
        return isMade ? [] : answered(initial, `No caller makes a \`${resource}\`.`);
      }),
      ...eachTransition(subject, (transition) => {
        const { name, to, on } = transition;
        const isCalled = on !== undefined || !subject.names.operations.closed || isCalledBy(subject, transition);
        return isCalled ? [] : answered(to, `No caller fires \`${name}\`.`);
      }),
    ],
  ),
  warning(
    'states/idle-else',
    'The error of a wrong state can never be given, since the transition leaves every state.',
    'Take `else` out, or say which states it leaves.',
    (subject) =>
      eachTransition(subject, ({ name, at, from, else: code }) =>
        code !== undefined && from === '*'
          ? [{ message: `No state is wrong for \`${name}\`, so \`${code}\` is never given.`, at: below(at, 'else') }]
          : [],
      ),
  ),
  warning(
    'states/target-after-rest',
    'A target stands after one without a condition, which is always taken before it.',
    'Put the target without `if` last.',
    ({ machines }) =>
      machines.flatMap((machine) => [
        ...hidden(machine.initial),
        ...entriesOf(machine.transitions).flatMap(([, { to }]) => hidden(to)),
      ]),
  ),
];

function makes({ does }: Endpoint, resource: string): boolean {
  const effect = statedValue(does);
  return (effect?.verb === 'create' || effect?.verb === 'upsert') && effect.resource === resource;
}

function answered(targets: readonly Target[], message: string): Wrong[] {
  return targets.flatMap(({ at, answer }) => (answer === undefined ? [] : [{ message, at: below(at, 'answer'), onKey: true }]));
}

function isCalledBy({ spec, machines }: Subject, transition: Transition): boolean {
  return entriesOf(spec.endpoints.all).some(([, { does }]) => {
    const effect = statedValue(does);
    if (effect?.verb !== 'transition' || effect.transition !== transition.name) return false;
    return machines.some(
      ({ resource, transitions }) => resource === effect.resource && entriesOf(transitions).some(([, one]) => one === transition),
    );
  });
}

/** Whether a text has the short form of a transition. */
export function isArrow(text: string): boolean {
  return text.split('->').length === 2;
}

/** What is found at each transition of each machine. */
export function eachTransition(
  { machines }: Subject,
  find: (transition: Transition, machine: Machine) => readonly Wrong[],
): Wrong[] {
  return machines.flatMap((machine) =>
    isStated(machine.transitions)
      ? Object.values(machine.transitions.value).flatMap((transition) => find(transition, machine))
      : [],
  );
}

/** The words that begin a `does` and are no transition. */
export const effectVerbs: ReadonlySet<string> = new Set([...resourceVerbs, 'handler', 'reply', 'all']);

/** The words of a transition in its long form; none for `draft -> bought`. */
export function wordsAt({ spec }: Subject, at: string): JsonMap {
  const value = valueAt(spec.document.tree, at);
  return isMap(value) ? value : {};
}

function hidden(targets: readonly Target[]): Wrong[] {
  const rest = targets.findIndex((target) => target.if === undefined);
  if (rest < 0) return [];
  const also = targets[rest] ? [{ message: 'This one is always taken.', at: targets[rest].at }] : [];
  return targets.slice(rest + 1).map(({ state, at }) => ({ message: `The target \`${state}\` is never taken.`, at, also }));
}

/** The field that holds the state: its allowed values come from the machine, and transitions alone write it. */
export const stateFieldRules: readonly Rule[] = [
  error(
    'states/unknown-field',
    'The state is held by a field that the resource does not have.',
    'Write the name of a field, or state the field.',
    ({ machines, resources }) =>
      machines.flatMap(({ key, resource, field, at }) => {
        const stated = resources.get(resource);
        if (field === '' || !stated) return [];
        // The field stands in the key, where that names one.
        return key === resource
          ? unstated(fieldVocabulary(stated), field, below(at, 'field'))
          : unstated(fieldVocabulary(stated), field, at, { onKey: true });
      }),
  ),
  warning(
    'states/field-not-read-only',
    'The field that holds the state is not said to be read-only, though transitions alone write it.',
    'Add `readOnly: true` to the field.',
    (subject) =>
      eachStateField(subject, ({ readOnly, name, at }, machine) =>
        readOnly || isMovedByUpdate(machine)
          ? []
          : [{ message: `Requests never write \`${name}\`: it holds the state.`, at, onKey: true }],
      ),
  ),
  error(
    'states/moved-read-only',
    'The field that holds the state is read-only, though an update that sends it is a transition.',
    'Take `readOnly` out of the field: what no transition leads to is `transition.illegal`.',
    (subject) =>
      eachStateField(subject, ({ readOnly, name, at }, machine) =>
        readOnly && isMovedByUpdate(machine)
          ? [
              {
                message: `An update of a \`${machine.resource}\` sends \`${name}\`, which is read-only.`,
                at: below(at, 'readOnly'),
                onKey: true,
              },
            ]
          : [],
      ),
  ),
  error(
    'states/field-written',
    'Something other than a transition is to write the field that holds the state.',
    'Take it out; the machine says what the state becomes.',
    (subject) => eachStateField(subject, writersOf),
  ),
  error('states/field-type', 'The field that holds the state is not text.', 'Write `type: string`.', (subject) =>
    eachStateField(subject, ({ name, shape, at }) => {
      const stated = statedValue(shape);
      const value: Shape | undefined = stated && resolvedShape(subject.spec, stated);
      const types = value && typesOf(value);
      const isText = value?.resource === undefined && value?.ref === undefined && (types === undefined || types.has('string'));
      return isText ? [] : [{ message: `\`${name}\` holds the name of a state, which is text.`, at: below(at, 'type') }];
    }),
  ),
  error(
    'states/field-values',
    'The field that holds the state lists values of its own, which are not the states.',
    'Take `enum` out; the states are its allowed values.',
    (subject) => eachStateField(subject, otherValues),
  ),
];

function eachStateField({ machines, resources }: Subject, find: (field: Field, machine: Machine) => readonly Wrong[]): Wrong[] {
  return machines.flatMap((machine) => {
    const field = fieldOf(resources.get(machine.resource), machine.field);
    return field ? find(field, machine) : [];
  });
}

function writersOf(field: Field, { initial }: Machine): Wrong[] {
  const first = initial.length === 1 ? initial[0]?.state : undefined;
  const words = [
    ...(Object.keys(field.set).length > 0 ? ['set'] : []),
    ...(field.generate !== undefined ? ['generate'] : []),
    ...(field.writable && field.writable.length > 0 ? ['writable'] : []),
    ...(field.immutable ? ['immutable'] : []),
    ...(field.default && field.default.value !== first ? ['default'] : []),
  ];
  return words.map((word) => ({
    message: `\`${field.name}\` holds the state, and \`${word}\` is to write it too.`,
    at: below(field.at, word),
    onKey: true,
  }));
}

function otherValues({ name, shape, at }: Field, { states, resource }: Machine): Wrong[] {
  const value = statedValue(shape);
  if (!value || !Array.isArray(value.enum) || !isStated(states)) return [];
  const own = value.enum.filter((word) => word !== null);
  const strange = own.flatMap((word) =>
    typeof word !== 'string' ? [shortJson(word)] : states.value.includes(word) ? [] : [word],
  );
  const missing = states.value.filter((state) => !own.includes(state));
  if (strange.length === 0 && missing.length === 0) return [];
  const parts = [
    ...(strange.length > 0 ? [`has ${listed(strange)}, which ${strange.length === 1 ? 'is no state' : 'are no states'}`] : []),
    ...(missing.length > 0 ? [`lacks ${listed(missing)}`] : []),
  ];
  const also = [{ message: `The states of \`${resource}\` stand here.`, at: states.at }];
  return [{ message: `The list of \`${name}\` ${parts.join(' and ')}.`, at: below(at, 'enum'), also }];
}
