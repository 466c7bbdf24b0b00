import { valueAt } from '../document/place.ts';
import { below } from '../document/pointer.ts';
import { isMap } from '../document/values.ts';
import { type Fact, statedValue } from '../parts/fact.ts';
import type { Pagination, PaginationStyle } from '../parts/limits.ts';
import { listed } from './names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from './rule.ts';

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
    'State `style`: cursor, after, offset, page or none.',
    (subject) =>
      eachPagination(subject, (_pages, at) =>
        valueAt(subject.spec.document.tree, below(at, 'style')) === undefined
          ? [{ message: 'There is no `style` here.', at }]
          : [],
      ),
  ),
  error(
    'limits/page-parameter',
    'A style of pagination lacks the parameter by which the next page is asked for.',
    'Name it: `cursor: cursor`, `after: after`, `offset: offset` or `page: page`.',
    (subject) =>
      eachPagination(subject, ({ style }, at) =>
        style === 'none' || valueAt(subject.spec.document.tree, below(at, style)) !== undefined
          ? []
          : [
              {
                message: `Nothing says which parameter takes the ${style}.`,
                remedy: `Write \`${style}: ${style}\`.`,
                at: below(at, 'style'),
              },
            ],
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
        const idle = words.filter((word) => isWord(word) && !own[style].includes(word));
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
        ...clashes(pages, ['cursor', 'after', 'before', 'offset', 'page', 'size'], 'parameters', at),
        ...clashes(
          { ...pages, ...Object.fromEntries(Object.keys(pages.data).map((name) => [`data/${name}`, name])) },
          ['items', 'next', 'previous', 'hasMore', 'total', ...Object.keys(pages.data).map((name) => `data/${name}`)],
          'fields of the envelope',
          at,
        ),
      ]),
  ),
];

/** The words that only some styles have. */
const own: Readonly<Record<PaginationStyle, readonly string[]>> = {
  cursor: ['cursor', 'size', 'default', 'max', 'over_max', 'next', 'previous', 'has_more', 'told'],
  after: ['after', 'before', 'size', 'default', 'max', 'over_max', 'next', 'previous', 'has_more', 'told'],
  offset: ['offset', 'size', 'default', 'max', 'over_max', 'next', 'previous', 'has_more', 'told'],
  page: ['page', 'size', 'default', 'max', 'over_max', 'next', 'previous', 'has_more', 'told'],
  none: [],
};
const someStyles: ReadonlySet<string> = new Set(Object.values(own).flat());
const inEnvelope: ReadonlySet<string> = new Set(['next', 'previous', 'has_more', 'total', 'data']);

function isWord(word: string): boolean {
  return someStyles.has(word);
}

function eachPagination({ spec, endpoints }: Subject, find: (pages: Pagination, at: string) => readonly Wrong[]): Wrong[] {
  const stated = [
    spec.limits.pagination,
    ...endpoints.flatMap(({ pagination }): Fact<Pagination>[] => (pagination ? [pagination] : [])),
  ];
  return stated.flatMap((fact) => {
    const pages = statedValue(fact);
    return pages && valueAt(spec.document.tree, fact.at) !== undefined ? find(pages, fact.at) : [];
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
