import { below } from '../../document/pointer.ts';
import { readTemplate } from '../../kinds/generators/template.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Identifier, Resource } from '../../parts/resources.ts';
import { typesOf } from '../subject/json-types.ts';
import { fieldOf, fieldVocabulary, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What tells the things of a resource apart. */
export const identifierRules: readonly Rule[] = [
  error(
    'resources/identifier-any',
    'An identifier is left to the implementation, which clients could not rely on.',
    'State it, write `none`, or `!open "the question"`.',
    ({ resources }) =>
      [...resources.values()]
        .filter(({ identifier }) => identifier.standing === 'any')
        .map(({ name, identifier }) => ({ message: `The identifier of \`${name}\` cannot be \`any\`.`, at: identifier.at })),
  ),
  error(
    'resources/identifier-field',
    'The identifier is a field that the resource does not have.',
    'State the field, or name another.',
    (subject) => eachIdentifier(subject, (resource, { field }, at) => unstated(fieldVocabulary(resource), field, at)),
  ),
  error(
    'resources/identifier-type',
    'What makes the identifier does not make values of its type.',
    'Write `integer` for whole numbers, and anything else for text.',
    (subject) => eachIdentifier(subject, wrongType),
  ),
  error(
    'resources/identifier-template',
    'What is to make the identifier is neither a known word nor a template.',
    'Write uuid, uuidv7, ulid, integer, client, or a template such as `pcl_{ulid}`.',
    (subject) => eachIdentifier(subject, wrongTemplate),
  ),
  warning(
    'resources/identifier-optional',
    'Answers need not carry the identifier.',
    "Put it into the resource's `required`.",
    (subject) =>
      eachIdentifier(subject, (resource, { field }) => {
        const required = fieldOf(resource, field)?.required;
        if (!required || statedValue(required) !== false) return [];
        return [{ message: `\`${field}\` tells one \`${resource.name}\` from another, and is not required.`, at: required.at }];
      }),
  ),
  error(
    'resources/identifier-case',
    'An identifier is to be the same in whatever case it is written.',
    'Take `ignore_case` out; a field beside it with `ignore_case` and a rule of `unique` may find the row in a path.',
    (subject) =>
      eachIdentifier(subject, (resource, { field }) => {
        const stated = fieldOf(resource, field);
        if (!stated?.ignoreCase) return [];
        return [{ message: `Rows are known by \`${field}\` as it is, case and all.`, at: below(stated.at, 'ignore_case') }];
      }),
  ),
  error(
    'resources/identifier-unwritable',
    'The client makes the identifier, and may not write it.',
    'Take `readOnly` from the field, or let the service generate it.',
    (subject) =>
      eachIdentifier(subject, (resource, { field, generate }) => {
        const stated = fieldOf(resource, field);
        if (generate !== 'client' || !stated?.readOnly) return [];
        return [{ message: `\`${field}\` is to be made by the client, and is read-only.`, at: below(stated.at, 'readOnly') }];
      }),
  ),
];

function eachIdentifier(
  { resources }: Subject,
  find: (resource: Resource, identifier: Identifier, at: string) => readonly Wrong[],
): Wrong[] {
  return [...resources.values()].flatMap((resource) => {
    const identifier = statedValue(resource.identifier);
    return identifier ? find(resource, identifier, fieldPlace(resource)) : [];
  });
}

/** Where the field's name stands; in the short form it is the whole. */
function fieldPlace({ identifier }: Resource): string {
  return below(identifier.at, 'field');
}

function wrongType(resource: Resource, { field, generate }: Identifier): Wrong[] {
  const stated = fieldOf(resource, field);
  const shape = stated && statedValue(stated.shape);
  const types = shape && typesOf(shape);
  if (generate === undefined || generate === 'client' || !types) return [];
  const made = generate === 'integer' ? 'integer' : 'string';
  if (types.has(made) || (made === 'integer' && types.has('number'))) return [];
  const message = `\`${generate}\` makes ${made === 'integer' ? 'whole numbers' : 'text'}, and \`${field}\` is of type ${[...types].join(' or ')}.`;
  return [
    { message, at: below(resource.identifier.at, 'generate'), also: [{ message: 'The field stands here.', at: stated.at }] },
  ];
}

function wrongTemplate({ identifier }: Resource, { generate }: Identifier): Wrong[] {
  if (generate === undefined || generate === 'client' || generate === 'integer') return [];
  const read = readTemplate(generate);
  return 'wrong' in read ? [{ message: read.wrong, at: below(identifier.at, 'generate') }] : [];
}
