import { below } from '../document/pointer.ts';
import { valueAt } from '../document/source.ts';
import { isMap, isStanding } from '../document/values.ts';
import { pageStyle, pageStyles } from '../kinds/pages/all.ts';
import type { PageStyle } from '../kinds/pages/kind.ts';
import { type Fact, statedValue } from '../parts/fact.ts';
import type { Pagination } from '../parts/limits.ts';
import { fieldCountedApart, type RowLimit } from '../parts/row-limits.ts';
import { listed, unstated } from './subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from './subject/rule.ts';

/** Pagination, the document's and each endpoint's own. */
export const pagesRules: readonly Rule[] = [
  error(
    'limits/page-default',
    'A page holds more by default than it may at the most.',
    'Write a `default` that is not above `max`.',
    (subject) =>
      eachPagination(subject, (pages, at) =>
        pages.default !== undefined && pages.max !== undefined && pages.default > pages.max
          ? [{ message: `The default ${pages.default} is above ${pages.max}, the most.`, at: below(at, 'default') }]
          : [],
      ),
  ),
  error(
    'limits/page-style',
    'Pagination does not say how lists are cut.',
    `State \`style\`: ${someOf(pageStyles.map(({ word }) => word))}.`,
    (subject) =>
      factsOf(subject).flatMap(({ at }) => {
        const written = valueAt(subject.spec.document.tree, at);
        return isMap(written) && !isStanding(written) && written.style === undefined
          ? [{ message: 'There is no `style` here.', at }]
          : [];
      }),
  ),
  error(
    'limits/page-parameter',
    'A style of pagination lacks the parameter by which the next page is asked for.',
    `Name it: ${someOf(pageStyles.flatMap(requiredOf).map((word) => `\`${word}: ${word}\``))}.`,
    (subject) =>
      eachPagination(subject, ({ style }, at) =>
        requiredOf(pageStyle(style))
          .filter((word) => valueAt(subject.spec.document.tree, below(at, word)) === undefined)
          .map((word) => ({
            message: `Nothing says which parameter takes the ${word}.`,
            remedy: `Write \`${word}: ${word}\`.`,
            at: below(at, 'style'),
          })),
      ),
  ),
  warning(
    'limits/page-word',
    'A word of pagination says nothing about its style.',
    'Take the word out, or correct the style.',
    (subject) =>
      eachPagination(subject, ({ style, items }, at) => {
        const written = valueAt(subject.spec.document.tree, at);
        const words = isMap(written) && written.style !== undefined ? Object.keys(written) : [];
        const idle = words.filter((word) => isWord(word) && !wordsOf(pageStyle(style)).includes(word));
        const bare = words.filter(
          (word) => items === undefined && inEnvelope.has(word) && isMap(written) && written.items === 'none',
        );
        return [
          ...idle.map((word) => ({
            message: `\`${word}\` says nothing about pages of style ${style}.`,
            at: below(at, word),
            onKey: true,
          })),
          ...bare.map((word) => ({ message: `A bare array has no field \`${word}\`.`, at: below(at, word), onKey: true })),
        ];
      }),
  ),
  error(
    'limits/page-names',
    'Two parameters, or two fields of the envelope, have the same name.',
    'Give each a name of its own.',
    (subject) =>
      eachPagination(subject, (pages, at) => [
        ...clashes({ ...pages.names, size: pages.size }, [...parameterWords, 'size'], 'parameters', at),
        ...clashes(
          { ...pages, ...Object.fromEntries(Object.keys(pages.data).map((name) => [`data/${name}`, name])) },
          ['items', 'next', 'previous', 'hasMore', 'total', 'self', ...Object.keys(pages.data).map((name) => `data/${name}`)],
          'fields of the envelope',
          at,
        ),
      ]),
  ),
];

/** The words that only lists in pages have, whatever their style. */
const pagedWords = ['size', 'default', 'max', 'over_max', 'next', 'previous', 'has_more', 'told'];
const parameterWords = pageStyles.flatMap(({ parameters }) => parameters.map(({ word }) => word));
const someStyles: ReadonlySet<string> = new Set([...parameterWords, ...pagedWords]);

function wordsOf({ tells, parameters }: PageStyle): string[] {
  return [...parameters.map(({ word }) => word), ...(tells === 'nothing' ? [] : pagedWords)];
}

function requiredOf({ parameters }: PageStyle): string[] {
  return parameters.filter(({ isRequired }) => isRequired).map(({ word }) => word);
}

/** Words as one of which something may be written. */
function someOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

const inEnvelope: ReadonlySet<string> = new Set(['next', 'previous', 'has_more', 'total', 'self', 'data']);

function isWord(word: string): boolean {
  return someStyles.has(word);
}

/** What is said of pagination, for all lists and for single ones. */
function factsOf({ spec, endpoints }: Subject): Fact<Pagination>[] {
  return [spec.limits.pagination, ...endpoints.flatMap(({ pagination }) => (pagination ? [pagination] : []))];
}

function eachPagination(subject: Subject, find: (pages: Pagination, at: string) => readonly Wrong[]): Wrong[] {
  return factsOf(subject).flatMap((fact) => {
    const pages = statedValue(fact);
    return pages && valueAt(subject.spec.document.tree, fact.at) !== undefined ? find(pages, fact.at) : [];
  });
}

function clashes(pages: object, words: readonly string[], what: string, at: string): Wrong[] {
  const named = new Map<string, string[]>();
  for (const word of words) {
    const name: unknown = Reflect.get(pages, word);
    if (typeof name === 'string') named.set(name, [...(named.get(name) ?? []), word]);
  }
  return [...named]
    .filter(([, same]) => same.length > 1)
    .map(([name, same]) => ({
      message: `${what === 'parameters' ? 'The parameters' : 'The fields'} ${listed(same.map((word) => word.replace('data/', '')))} are all named \`${name}\`.`,
      at: below(at, (same[1] as string).replace('hasMore', 'has_more').split('/')[0] as string),
    }));
}

/** How many rows there may be: of what, and what counts apart. */
export const rowLimitRules: readonly Rule[] = [
  error(
    'limits/rows',
    'A limit of rows is of something of which no rows are kept, counts apart what no field says, or does not say how many.',
    'Write a resource with an identifier, one of its fields or what a field is set to where a row is made, and `limit`.',
    (subject) => limitsOf(subject).flatMap((rule) => wrongIn(subject, rule)),
  ),
  warning(
    'limits/rows-of-nothing',
    'A limit of no rows lets none be made.',
    'Write how many there may be; to allow none, take the endpoint out.',
    (subject) =>
      limitsOf(subject).flatMap(({ limit, at }) =>
        limit === 0 ? [{ message: 'None can be made.', at: below(at, 'limit') }] : [],
      ),
  ),
];

function limitsOf({ spec }: Subject): readonly RowLimit[] {
  return statedValue(spec.limits.rows) ?? [];
}

function wrongIn(subject: Subject, rule: RowLimit): Wrong[] {
  const { of, per, limit, at } = rule;
  if (Number.isNaN(limit)) return [{ message: 'It does not say how many: `limit`.', at }];
  const resource = subject.resources.get(of);
  if (!resource) return unstated(subject.names.resources, of, below(at, 'of'));
  if (resource.identifier.standing === 'none')
    return [{ message: `\`${of}\` is a value, of which no rows are kept.`, at: below(at, 'of') }];
  if (per === undefined || resource.fields.standing === 'open' || fieldCountedApart(rule, resource) !== undefined) return [];
  const message = /^\w+$/.test(per)
    ? `\`${of}\` has no field \`${per}\`.`
    : `No field of \`${of}\` is set to \`${per}\` where one is made: state \`owner: { type: string, readOnly: true, set: { create: ${per} } }\`.`;
  return [{ message, at: below(at, 'per') }];
}
