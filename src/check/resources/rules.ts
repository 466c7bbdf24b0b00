import { below } from '../../document/pointer.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { isWritable } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import { fieldVocabulary, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';

/** What the fields of a resource together must not be. */
export const ruleRules: readonly Rule[] = [
  error(
    'resources/rule-field',
    'A rule, or a choice of fields, names a field that the resource does not have.',
    'Write the name of a field, or state the field.',
    (subject) =>
      eachResource(subject, (resource) => [
        ...Object.values(resource.rules).flatMap(({ field, at }) =>
          field === undefined ? [] : unstated(fieldVocabulary(resource), field, below(at, 'field')),
        ),
        ...resource.choices.flatMap(({ fields, at }) =>
          fields.flatMap((field, index) => unstated(fieldVocabulary(resource), field, below(at, String(index)))),
        ),
      ]),
  ),
  error(
    'resources/choice-of-one',
    'A choice of fields is none.',
    'Name two or more fields that a caller may leave out.',
    (subject) =>
      eachResource(subject, (resource) => resource.choices.flatMap(({ fields, at }) => noChoice(subject, resource, fields, at))),
  ),
  error(
    'resources/rule-of-value',
    'A value has rules, which are kept for rows.',
    'State the rule where the value stands, over `next.price.amount`, or give the resource an identifier.',
    (subject) =>
      eachResource(subject, ({ identifier, rules, choices, at, name }) =>
        identifier.standing === 'none' && (Object.keys(rules).length > 0 || choices.length > 0)
          ? [
              {
                message: `\`${name}\` is a value, and rules are asked of whole rows.`,
                at: below(at, choices.length > 0 ? 'one_of' : 'rules'),
                onKey: true,
              },
            ]
          : [],
      ),
  ),
];

function eachResource({ resources }: Subject, find: (resource: Resource) => readonly Wrong[]): Wrong[] {
  return [...resources.values()].flatMap(find);
}

function noChoice({ spec }: Subject, resource: Resource, fields: readonly string[], at: string): Wrong[] {
  if (new Set(fields).size < 2) return [{ message: 'There is nothing to choose from.', at }];
  return fields.flatMap((name, index) => {
    const field = entryOf(resource.fields, name);
    if (!field) return [];
    const place = below(at, String(index));
    if (!isWritable(spec, resource, field)) return [{ message: `\`${name}\` is sent by nobody.`, at: place }];
    if (statedValue(field.required) === true)
      return [{ message: `\`${name}\` is required, so the others may never be sent.`, at: place }];
    if (field.default) return [{ message: `\`${name}\` has a default, so the others may never be sent.`, at: place }];
    return [];
  });
}
