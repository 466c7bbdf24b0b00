import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { isTurning, type Parameter } from '../../parts/parameters.ts';
import type { Resource } from '../../parts/resources.ts';
import { fieldOf, fieldVocabulary, unstated } from '../subject/names.ts';
import { itemPlace } from '../subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** How lists are ordered and cut, and what in an answer may be expanded. */
export const listRules: readonly Rule[] = [
  error(
    'endpoints/unknown-order',
    'A list is ordered by a field that the resource does not have.',
    'Write the name of a field; a leading `-` turns the order.',
    (subject) =>
      eachList(subject, (resource, { at, order }) => {
        const words = order.map(({ field, descending }) => (descending ? `-${field}` : field));
        return order.flatMap(({ field }, index) =>
          unstated(
            fieldVocabulary(resource),
            field.split('.')[0] as string,
            itemPlace(subject, below(at, 'order'), words, index),
          ),
        );
      }),
  ),
  error(
    'endpoints/unknown-sort',
    'A parameter offers to sort by a field that the resource does not have.',
    'Write names of fields under `enum`; a leading `-` turns the order.',
    (subject) =>
      eachList(subject, (resource, { parameters }) =>
        entriesOf(parameters).flatMap(([, { sorts, sortNames, shape, at }]) => {
          if (sortNames)
            return Object.entries(sortNames).flatMap(([name, field]) =>
              unstated(fieldVocabulary(resource), field, below(below(at, 'sorts'), name)),
            );
          const values = sorts ? statedValue(shape)?.enum : undefined;
          if (!Array.isArray(values)) return [];
          return values.flatMap((value, index) =>
            typeof value === 'string'
              ? unstated(
                  fieldVocabulary(resource),
                  value.replace(/^-/, '').split('.')[0] as string,
                  below(below(at, 'enum'), index),
                )
              : [],
          );
        }),
      ),
  ),
  error(
    'endpoints/direction',
    'A parameter for the direction of a list says nothing of how it is sorted.',
    'Name the parameter that sorts under `directs`, and take the words `asc` and `desc`.',
    (subject) =>
      subject.endpoints.flatMap((endpoint) =>
        entriesOf(endpoint.parameters).flatMap(([, one]) => directionWrongs(endpoint, one)),
      ),
  ),
  error(
    'endpoints/order-not-kept',
    'A list is ordered or filtered by a field that is never stored.',
    'Let the field be stored, or order and filter by another.',
    (subject) =>
      eachList(subject, (resource, { at, order, parameters }) => [
        ...order.flatMap(({ field }) => notKept(resource, field, below(at, 'order'))),
        ...entriesOf(parameters).flatMap(([, parameter]) => notKept(resource, parameter.filters ?? '', parameter.at)),
      ]),
  ),
  warning(
    'endpoints/list-words',
    'An endpoint that is no list is ordered, sorted, filtered or cut into pages.',
    'Take these words out, or let it list a resource.',
    ({ endpoints, spec }) =>
      endpoints.flatMap(({ at, does, order, pagination, parameters }) => {
        const effect = statedValue(does);
        if (!effect || effect.verb === 'list' || effect.verb === 'handler') return [];
        const words = [
          ...(order.length > 0 ? [{ word: 'order', at: below(at, 'order') }] : []),
          ...(valueAt(spec.document.tree, below(at, 'ties')) === undefined ? [] : [{ word: 'ties', at: below(at, 'ties') }]),
          ...(pagination && pagination.standing !== 'none' ? [{ word: 'pagination', at: below(at, 'pagination') }] : []),
          ...entriesOf(parameters).flatMap(([, parameter]) => [
            ...(parameter.sorts ? [{ word: 'sorts', at: below(parameter.at, 'sorts') }] : []),
            ...(parameter.filters === undefined ? [] : [{ word: 'filters', at: below(parameter.at, 'filters') }]),
            ...(parameter.chooses
              ? [{ word: wordOf(parameter.chooses.by), at: below(parameter.at, wordOf(parameter.chooses.by)) }]
              : []),
          ]),
        ];
        return words.map((word) => ({ message: `\`${word.word}\` says something about lists, and this is none.`, at: word.at }));
      }),
  ),
  warning(
    'endpoints/nothing-to-expand',
    'An endpoint offers to expand references, and its resource has none.',
    'Take `expand` out.',
    ({ endpoints, resources }) =>
      endpoints.flatMap(({ at, does, expand }) => {
        const effect = statedValue(does);
        const resource = effect && 'resource' in effect ? resources.get(effect.resource) : undefined;
        const fields = resource && statedValue(resource.fields);
        if (!expand || !resource || !fields || /"(?:ref|resource)":/.test(JSON.stringify(fields))) return [];
        return [{ message: `\`${resource.name}\` refers to nothing that could be expanded.`, at: below(at, 'expand') }];
      }),
  ),
  error(
    'endpoints/expand-member',
    'The member of a body that asks for references to be shown whole is a field as well.',
    'Give the member a name that no field has.',
    ({ endpoints, resources }) =>
      endpoints.flatMap(({ at, does, expand }) => {
        const effect = statedValue(does);
        const resource = effect && 'resource' in effect ? resources.get(effect.resource) : undefined;
        const { member } = expand ?? {};
        if (member === undefined || !resource || !entryOf(resource.fields, member)) return [];
        return [{ message: `\`${resource.name}\` has a field \`${member}\`.`, at: below(below(at, 'expand'), 'member') }];
      }),
  ),
];

function directionWrongs({ parameters }: Endpoint, { at, directs, shape }: Parameter): Wrong[] {
  if (directs === undefined) return [];
  if (!entryOf(parameters, directs)?.sorts)
    return [{ message: `\`${directs}\` is no parameter that sorts.`, at: below(at, 'directs') }];
  const { enum: words } = statedValue(shape) ?? {};
  const isEither = Array.isArray(words) && words.length === 2 && words.filter(isTurning).length === 1;
  return isEither ? [] : [{ message: 'One of two words has to begin with `desc`.', at, onKey: true }];
}

function wordOf(by: 'path' | 'keeps' | 'search'): string {
  return by === 'path' ? 'filters' : by;
}

function eachList(subject: Subject, find: (resource: Resource, endpoint: Endpoint) => readonly Wrong[]): Wrong[] {
  return subject.endpoints.flatMap((endpoint) => {
    const effect = statedValue(endpoint.does);
    const resource = effect?.verb === 'list' ? subject.resources.get(effect.resource) : undefined;
    return resource ? find(resource, endpoint) : [];
  });
}

function notKept(resource: Resource, name: string, at: string): Wrong[] {
  const field = fieldOf(resource, name);
  return field && !field.stored
    ? [{ message: `\`${name}\` is never stored, so no list can be ordered or filtered by it.`, at }]
    : [];
}
