import { below } from '../../document/pointer.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import { resolvedShape } from '../../parts/shape-level.ts';
import { isMovedByUpdate, type Machine } from '../../parts/states.ts';
import { shortJson, typesOf } from '../subject/json-types.ts';
import { fieldOf, fieldVocabulary, listed, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

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
