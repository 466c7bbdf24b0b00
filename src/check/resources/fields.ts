import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { generatedOf } from '../../parts/inner-values.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { typesOf } from '../subject/json-types.ts';
import { fieldVocabulary, unstated } from '../subject/names.ts';
import { itemPlace } from '../subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** The words of fields, one by one, and the lists that name fields. */
export const fieldRules: readonly Rule[] = [
  error(
    'resources/unknown-required',
    'The list of required fields names one that the resource does not have.',
    'Write the name of a field, or state the field.',
    (subject) =>
      [...subject.resources.values()].flatMap((resource) => {
        const at = below(resource.at, 'required');
        const list = valueAt(subject.spec.document.tree, at);
        const fields = fieldVocabulary(resource);
        const words = Array.isArray(list) ? list : typeof list === 'string' && list !== 'none' && list !== 'any' ? [list] : [];
        const texts = words.map((word: unknown) => (typeof word === 'string' ? word : ''));
        return words.flatMap((word: unknown, index) =>
          typeof word === 'string' ? unstated(fields, word, itemPlace(subject, at, texts, index)) : [],
        );
      }),
  ),
  error(
    'resources/unknown-unique',
    'A unique rule names a field that the resource does not have.',
    'Write the name of a field, or state the field.',
    (subject) => eachUnique(subject, (resource, name, at) => unstated(fieldVocabulary(resource), name, at)),
  ),
  error(
    'resources/not-kept',
    'A field that is not stored is to be unique.',
    'Let the field be stored, or take it out of `unique`.',
    (subject) =>
      eachUnique(subject, (resource, name, at) =>
        entriesOf(resource.fields).some(([field, { stored }]) => field === name && !stored)
          ? [{ message: `\`${name}\` is never stored, so nothing can be compared with it.`, at }]
          : [],
      ),
  ),
  warning(
    'resources/value-unique',
    'A value has a unique rule, though there are no two of it to compare.',
    'Put the rule on the resource that holds the value, or give this one an identifier.',
    ({ resources }) =>
      [...resources.values()]
        .filter(({ identifier, unique }) => identifier.standing === 'none' && unique.length > 0)
        .map(({ name, at }) => ({ message: `\`${name}\` is a value, of which no list is kept.`, at: below(at, 'unique') })),
  ),
  error(
    'resources/generate-template',
    'The template of a generated field does not parse.',
    'Write text with `{ulid}`, `{uuid}`, `{random:24}`, `{base64:32}`, `{number:6}`, the identifier or a field generated above it, in it.',
    (subject) =>
      eachField(subject, (field, resource) => {
        const read = generatedOf(resource, field);
        return read && 'wrong' in read ? [{ message: read.wrong, at: below(field.at, 'generate') }] : [];
      }),
  ),
  error(
    'resources/generate-type',
    'A field is generated that cannot hold what is made.',
    'Let the field be a string, count it with `generate: integer`, or take `generate` out.',
    (subject) =>
      eachField(subject, ({ name, at, generate, shape }) => {
        const types = typesOf(statedValue(shape) ?? {});
        const made = generate === 'integer' ? 'integer' : 'string';
        if (generate === undefined || !types || types.has(made)) return [];
        const message =
          made === 'integer'
            ? `\`integer\` counts, and \`${name}\` is of type ${[...types].join(' or ')}.`
            : `A template makes text, and \`${name}\` is of type ${[...types].join(' or ')}.`;
        const remedy = made === 'integer' ? 'Count in a text with `{number:6}`, or let the field be an integer.' : undefined;
        return [{ message, at: below(at, 'generate'), ...(remedy && { remedy }) }];
      }),
  ),
  warning(
    'resources/reveal-nothing',
    'A field is revealed once, and nothing makes it.',
    'Add what makes it: `generate: "{random:32}"`.',
    (subject) =>
      eachField(subject, ({ name, at, reveal, generate, set }) =>
        reveal && generate === undefined && Object.keys(set).length === 0
          ? [{ message: `Nothing generates \`${name}\`, so there is nothing to reveal.`, at: below(at, 'reveal') }]
          : [],
      ),
  ),
  error(
    'resources/null-kept',
    'Null is to be kept in a field that cannot be null.',
    'Let its type end with `?`, or take `null: kept` out.',
    (subject) =>
      eachField(subject, ({ name, at, keepsNull, shape }) => {
        const stated = statedValue(shape);
        if (!keepsNull || !stated || subject.schemas.misfit(stated, null) === undefined) return [];
        return [{ message: `\`${name}\` is never null.`, at: below(at, 'null') }];
      }),
  ),
  warning(
    'resources/case-of-no-text',
    'The case of a field is to be ignored, and the field is not text.',
    'Take `ignore_case` out.',
    (subject) =>
      eachField(subject, ({ name, at, ignoreCase, shape }) => {
        const types = typesOf(statedValue(shape) ?? {});
        if (!ignoreCase || !types || types.has('string')) return [];
        return [{ message: `\`${name}\` is of type ${[...types].join(' or ')} and has no case.`, at: below(at, 'ignore_case') }];
      }),
  ),
  warning(
    'resources/extensible-without-enum',
    'A field says that more values may come, and lists none.',
    'List the values under `enum`, or take `extensible` out.',
    (subject) =>
      eachField(subject, ({ name, at, extensible, shape }) => {
        const value = statedValue(shape);
        if (!extensible || !value || /"(?:enum|const)":/.test(JSON.stringify(value))) return [];
        return [{ message: `\`${name}\` lists no values that others could join.`, at: below(at, 'extensible') }];
      }),
  ),
];

/** What is found at each field of each resource. */
export function eachField({ resources }: Subject, find: (field: Field, resource: Resource) => readonly Wrong[]): Wrong[] {
  return [...resources.values()].flatMap((resource) => entriesOf(resource.fields).flatMap(([, field]) => find(field, resource)));
}

function eachUnique(subject: Subject, find: (resource: Resource, field: string, at: string) => readonly Wrong[]): Wrong[] {
  const { tree } = subject.spec.document;
  return [...subject.resources.values()].flatMap((resource) =>
    resource.unique.flatMap(({ at, fields }) => {
      const list = valueAt(tree, below(at, 'fields')) === undefined ? at : below(at, 'fields');
      return fields.flatMap((field, index) => find(resource, field, itemPlace(subject, list, fields, index)));
    }),
  );
}
