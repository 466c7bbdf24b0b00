import { below } from '../../document/pointer.ts';
import type { Draw } from '../../kinds/generators/kind.ts';
import { readTemplate } from '../../kinds/generators/template.ts';
import { type Derivation, derivationsOf, type Misread } from '../../parts/derived/derivations.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { changesOfValues, generatedOf } from '../../parts/inner-values.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { machineOn } from '../../parts/states.ts';
import { shortJson, typesOf } from '../subject/json-types.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';
import { eachField } from './fields.ts';

/** What the service makes by itself, held to the shape of the field that it is made for. */
export const generatedRules: readonly Rule[] = [
  error(
    'resources/generate-misfit',
    'What is generated for a field does not fit the shape of the field.',
    'Let the pattern, the format and the lengths take what is made, or generate something else.',
    (subject) =>
      eachField(subject, (field, resource) => {
        const identifier = statedValue(resource.identifier);
        const isIdentifier = identifier?.field === field.name;
        const generate = isIdentifier ? identifier.generate : field.generate;
        const at = below(isIdentifier ? resource.identifier.at : field.at, 'generate');
        return generate === undefined || entryOf(resource.fields, field.name) === undefined
          ? []
          : misfits(subject, field, madeBy(resource, field, isIdentifier), generate, at);
      }),
  ),
  error(
    'resources/counted',
    'A counted field cannot be counted as it is stated.',
    'Write `number: { type: integer, readOnly: true, generate: integer, within: repository }`, with a required field that does not change.',
    (subject) => eachField(subject, miscounted),
  ),
  error(
    'resources/value-made',
    'A field of a value is made as only a field of a row can be.',
    'Write `set: { create: … }` or `set: { write: … }` over `value`, or `generate` with no other field in it.',
    (subject) => eachField(subject, madeAsInRow),
  ),
];

/** A value has no operations of its own, and nothing to be counted among. */
function madeAsInRow(field: Field, resource: Resource): Wrong[] {
  if (resource.identifier.standing !== 'none') return [];
  const { name, at, set } = field;
  const keys = Object.keys(set).filter((key) => !changesOfValues.includes(key));
  const made = generatedOf(resource, field);
  const isOfRows = made && !('wrong' in made) && made.fields.length > 0;
  return [
    ...keys.map((key) => ({ message: `\`${key}\` is no change of a value.`, at: below(below(at, 'set'), key), onKey: true })),
    ...(isOfRows ? [{ message: `\`${name}\` could only be made so in a row.`, at: below(at, 'generate') }] : []),
  ];
}

/** What is counted is counted by the service alone, once, and within what stays as it is. */
function miscounted(field: Field, resource: Resource): Wrong[] {
  const { name, at, within, readOnly } = field;
  const made = generatedOf(resource, field);
  if (made && 'wrong' in made) return [];
  if (!made?.counts)
    return within === undefined
      ? []
      : [{ message: `\`${name}\` is not counted, within anything.`, at: below(at, 'within'), onKey: true }];
  if (!readOnly)
    return [
      { message: `\`${name}\` is counted, and could be sent too: it needs \`readOnly: true\`.`, at: below(at, 'generate') },
    ];
  if (resource.identifier.standing === 'none')
    return [{ message: `\`${resource.name}\` is a value, of which no rows are counted.`, at: below(at, 'generate') }];
  const group = within === undefined ? undefined : entryOf(resource.fields, within);
  if (within === undefined || !isStated(resource.fields)) return [];
  const wrong = (message: string) => [{ message, at: below(at, 'within') }];
  if (!group) return wrong(`\`${resource.name}\` has no field \`${within}\` to count within.`);
  if (statedValue(group.required) !== true)
    return wrong(`\`${within}\` may be absent, and then nothing says what \`${name}\` is counted within.`);
  if (!group.readOnly && !group.immutable)
    return wrong(`\`${within}\` can be changed, and \`${name}\` may be taken where it goes: it needs \`immutable: true\`.`);
  return [];
}

/** A few are made: what some of them break, some rows will. */
function misfits(
  { schemas }: Subject,
  { name, shape, at: field }: Field,
  made: readonly (string | number)[],
  generate: string,
  at: string,
): Wrong[] {
  const stated = statedValue(shape);
  const types = stated && typesOf(stated);
  // That it is of another type is told by itself.
  if (!stated || (types && !types.has(generate === 'integer' ? 'integer' : 'string'))) return [];
  for (const one of made) {
    const why = schemas.misfit(stated, one);
    if (why === undefined) continue;
    const message = `\`${generate}\` makes ${shortJson(one)}, which does not fit \`${name}\`: ${why}.`;
    return [{ message, at, also: [{ message: 'The field stands here.', at: field }] }];
  }
  return [];
}

function madeBy(resource: Resource, field: Field, isIdentifier: boolean): readonly (string | number)[] {
  const { generate = 'client' } = isIdentifier ? (statedValue(resource.identifier) ?? {}) : field;
  if (generate === 'client') return [];
  if (generate === 'integer') return [1, 2];
  const read = isIdentifier ? readTemplate(generate) : generatedOf(resource, field);
  if (!read || 'wrong' in read) return [];
  // What holds another field is as long as that is, which is held to its own shape.
  const made = 'template' in read ? read.template : read;
  return made.fields.length > 0 ? [] : draws.map((draw) => made.make(draw));
}

/** Time and chance of a few moments, always the same. */
const draws: readonly Draw[] = Array.from({ length: 8 }, (_, round) => ({
  nowMs: 1_780_000_000_000 + round * 86_400_000,
  bytes: (length) => Uint8Array.from({ length }, (_byte, at) => (at * 37 + round * 101 + 11) % 256),
  count: () => 1 + round ** 4,
  uuid: () => `${String(round).repeat(8)}-1f0${round}-4abc-8def-0123456789a${round}`,
}));

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
