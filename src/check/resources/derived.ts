import { below } from '../../document/pointer.ts';
import { type Derivation, derivationsOf, type Misread } from '../../parts/derived/derivations.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { machineOn } from '../../parts/states.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';
import { eachField } from './fields.ts';

/** Fields that are reckoned of their row and of the rows that refer to it. */
export const derivedRules: readonly Rule[] = [
  error(
    'resources/derived-aggregate',
    'What a derived field reckons over other rows is not written as that is.',
    'Write `count(comment.issue)`, `exists(comment.issue, item.open)`, or `sum`, `min` or `max` of a value: `sum(booking.trip, item.seats, item.paid)`.',
    ({ spec }) =>
      derivationsOf(spec).all.flatMap(({ at, problems }) =>
        problems.map(({ message, remedy, start, end }) => ({ message, remedy, at, offset: start, length: end - start })),
      ),
  ),
  error(
    'resources/derived-reads',
    'A derived field reads what it cannot be kept true of.',
    'Read fields of the row, and of `item` those of the rows that refer to it; what lies further away, derive there first.',
    ({ spec }) => derivationsOf(spec).all.flatMap((derivation) => derivation.misreads.map((one) => misread(derivation, one))),
  ),
  error(
    'resources/derived-and-written',
    'A field is derived and written too.',
    'Take out `derive`, or the word beside it.',
    (subject) => eachField(subject, (field, resource) => otherwiseWritten(subject, field, resource)),
  ),
  error(
    'resources/derived-unique',
    'A derived field is to be unique.',
    'Make the fields unique that it is derived of.',
    ({ resources }) =>
      [...resources.values()].flatMap((resource) =>
        resource.unique.flatMap(({ at, fields }) => {
          const name = fields.find((one) => entriesOf(resource.fields).some(([field, { derive }]) => field === one && derive));
          if (name === undefined) return [];
          return [{ message: `\`${name}\` changes with other rows, whose changes would be refused for it.`, at }];
        }),
      ),
  ),
];

function misread({ resource, field, at }: Derivation, { kind, path }: Misread): Wrong {
  const name = `${resource}.${field.name}`;
  if (kind === 'cycle')
    return { message: `\`${name}\` is derived of itself${path === name ? '' : `, by way of \`${path}\``}.`, at };
  if (kind === 'unstored') return { message: `\`${path}\` is never stored, so nothing can be reckoned of it later.`, at };
  return {
    message: `\`${path}\` is a field of what is referred to, and \`${name}\` would not change with it.`,
    remedy: 'Reckon it the other way round, in what is referred to, with `sum`, `count` and the like.',
    at,
  };
}

/** The words that say that somebody else writes a field. */
const writing = ['default', 'set', 'generate', 'immutable', 'writeOnly', 'writable', 'onDelete', 'reveal'] as const;

function otherwiseWritten({ spec }: Subject, field: Field, resource: Resource): Wrong[] {
  if (!field.derive) return [];
  const stated: Readonly<Record<(typeof writing)[number], boolean>> = {
    default: field.default !== undefined,
    set: Object.keys(field.set).length > 0,
    generate: field.generate !== undefined,
    immutable: field.immutable,
    writeOnly: field.writeOnly,
    writable: field.writable !== undefined,
    onDelete: field.onDelete !== undefined,
    reveal: field.reveal !== undefined,
  };
  const word = writing.find((one) => stated[one]);
  if (word)
    return [{ message: `\`${field.name}\` is derived, and has \`${word}\` beside it.`, at: below(field.at, word), onKey: true }];
  const at = below(field.at, 'derive');
  if (!field.stored) return [{ message: `\`${field.name}\` is derived, and never stored.`, at: below(field.at, 'stored') }];
  if (field.ref !== undefined) return [{ message: `\`${field.name}\` is a reference, which somebody has to choose.`, at }];
  if (statedValue(resource.identifier)?.field === field.name)
    return [{ message: `\`${field.name}\` is the identifier, which stays as it is.`, at }];
  if (machineOn(spec.states, resource.name, field.name))
    return [{ message: `\`${field.name}\` holds the state, which transitions write.`, at }];
  if (resource.identifier.standing === 'none')
    return [{ message: `\`${resource.name}\` is a value, of which no rows are kept, so nothing in it is derived.`, at }];
  return [];
}
