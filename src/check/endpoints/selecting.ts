import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { pathParameters } from '../../parts/payload.ts';
import { answersWithRows } from '../../parts/selecting.ts';
import { error, type Rule, type Subject } from '../subject/rule.ts';

/** How callers choose the fields that an answer shows. */
export const selectingRules: readonly Rule[] = [
  error(
    'endpoints/nothing-to-select',
    'An endpoint offers to choose fields, and its answer shows no rows as they are.',
    'Take `select` out, or let its answer follow by rule.',
    ({ endpoints }) =>
      endpoints.flatMap(({ key, does, response, select }) => {
        if (!select || answersWithRows(does, response) || !isStated(does)) return [];
        return [{ message: `\`${key}\` answers with no rows of which fields could be chosen.`, at: select.at, onKey: true }];
      }),
  ),
  error(
    'endpoints/select-taken',
    'The parameter that chooses fields has another meaning, or no name.',
    'Give it a name that nothing else has.',
    (subject) =>
      subject.endpoints.flatMap((endpoint) => {
        const other = endpoint.select && otherMeaning(subject, endpoint, endpoint.select.parameter);
        if (endpoint.select?.parameter === '')
          return [{ message: 'It has no name, so nobody can ask.', at: endpoint.select.at, onKey: true }];
        if (!endpoint.select || other === undefined) return [];
        return [{ message: `\`${endpoint.select.parameter}\` ${other}.`, at: endpoint.select.at, onKey: true }];
      }),
  ),
];

/** What a query parameter of this name does besides; nothing where it does nothing else. */
function otherMeaning({ spec }: Subject, endpoint: Endpoint, name: string): string | undefined {
  const parameter = entryOf(endpoint.parameters, name);
  const does =
    parameter && (parameter.filters !== undefined || parameter.sorts || parameter.chooses || parameter.directs !== undefined);
  if (parameter && (parameter.in !== 'query' || does)) return 'is a parameter that is stated to do something else';
  if (pathParameters(endpoint.path).includes(name)) return 'is a parameter of the path';
  if (endpoint.expand?.parameter === name) return 'says what is expanded';
  const isList = statedValue(endpoint.does)?.verb === 'list';
  const pages = isList ? statedValue(endpoint.pagination ?? spec.limits.pagination) : undefined;
  if (pages && [...Object.values(pages.names), pages.size].includes(name)) return 'says which page is meant';
  const versions = statedValue(spec.versioning.select);
  return versions?.by === 'query' && versions.carrier === name ? 'says which version is meant' : undefined;
}
