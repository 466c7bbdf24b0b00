import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { Parameter } from '../../../parts/parameters.ts';
import { directorOf, isTurning, sortKeyOf } from '../../../parts/sorting.ts';
import { moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { beginList, type OwnList } from '../../make/own-list.ts';
import { paginationOf, walkingPages } from '../../make/pages.ts';
import { isSendable } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import { OwnText, valuesApart } from '../../values/apart.ts';
import { judgeOrder, judgeTies, pagesOf } from './order.ts';

/** The words that a parameter sorts by, by the field that they name. */
export function sortWords(session: Pick<Session, 'model'>, endpoint: Endpoint, parameter: Parameter): Map<string, string[]> {
  const { name } = parameter;
  const { properties } = paramsShape(session.model.spec, endpoint);
  const stated = isMap(properties) ? properties[name] : undefined;
  const words: readonly Json[] = isMap(stated) && Array.isArray(stated.enum) ? stated.enum : [];
  return Map.groupBy(
    words.filter((word) => typeof word === 'string'),
    (word) => sortKeyOf(parameter, word).field,
  );
}

/** What an endpoint's order is where nothing is said of it: a direction with a default may turn it. */
function usualOrder(endpoint: Endpoint): Endpoint['order'] {
  const isTurned = isTurning(directorOf(endpoint)?.default?.value);
  return endpoint.order.map(({ field, descending }) => ({ field, descending: descending !== isTurned }));
}

/** The order that is stated, where none is asked for. */
export async function listInOrder(session: Session, endpoint: Endpoint): Promise<void> {
  const own = new OwnText();
  const bodies = bodiesFor(session, endpoint, endpoint.order[0]?.field ?? '', own);
  const list = await beginList(session, endpoint, { own, bodies, narrowedBut: [] });
  const seen = await list.all({});
  const fact = { kind: 'response payload shapes', subject: endpoint.key };
  session.claim({
    fact,
    reason: 'order',
    at: `${endpoint.at}/order`,
    of: [seen] as const,
    judge: (answer: TrialExchange | readonly TrialExchange[]) => judgeOrder(session, pagesOf(answer), usualOrder(endpoint)),
  });
  const made = list.rows.flatMap((row) => (row.made ? [row.made] : []));
  session.claim<readonly [TrialExchange | readonly TrialExchange[], ...TrialExchange[]]>({
    fact,
    reason: 'ties',
    at: `${endpoint.at}/order`,
    of: [seen, ...made],
    judge: (answer, ...creations) => judgeTies(session, pagesOf(answer), usualOrder(endpoint), creations),
  });
}

/** A list sorted by each word for one field, over values that texts would order otherwise, two of them the same. */
export async function listSorted(session: Session, endpoint: Endpoint, parameter: Parameter, field: string): Promise<void> {
  const own = new OwnText();
  const bodies = bodiesFor(session, endpoint, field, own);
  const list = await beginList(session, endpoint, { own, bodies, narrowedBut: [] });
  const director = directorOf(endpoint);
  const { enum: ways = [] } = statedValue(director?.shape) ?? {};
  const directed = director && Array.isArray(ways) ? (ways as readonly Json[]).map((way) => ({ [director.name]: way })) : [];
  for (const word of sortWords(session, endpoint, parameter).get(field) ?? []) {
    for (const more of [{}, ...directed]) {
      const seen = await list.all({ [parameter.name]: word, ...more });
      claimSorted(session, endpoint, { parameter, word, seen, list });
    }
    const { size, max = smallPage } = paginationOf(session.model, endpoint) ?? {};
    if (size === undefined) continue;
    // What is asked for is kept from page to page, whatever a page says of the next one.
    const plan = list.plan({ [parameter.name]: word, [size]: Math.min(smallPage, max) });
    const walk = await session.do(walkingPages(session.model, plan, undefined, pagesSeen));
    claimSorted(session, endpoint, { parameter, word, seen: walk, list, more: pageAfterPage });
  }
}

/** The reason of a claim that a list is sorted, and what it ends with where that was seen over several pages. */
export const sortedBy = (word: string): string => `sorted by ${word}`;
export const pageAfterPage = ', page after page';

/** Of so many rows there are several pages. */
const smallPage = 2;
const pagesSeen = 3;

function claimSorted(
  session: Session,
  endpoint: Endpoint,
  given: {
    readonly parameter: Parameter;
    readonly word: string;
    readonly seen: Done<TrialExchange | readonly TrialExchange[]>;
    readonly list: OwnList;
    readonly more?: string;
  },
): void {
  const { parameter, word, seen, list, more = '' } = given;
  const fact = { kind: 'parameters', subject: endpoint.key };
  const orderIn = (pages: readonly TrialExchange[]): Endpoint['order'] => {
    const asked = pages[0]?.sent.query[parameter.name];
    if (typeof asked !== 'string') return [];
    const { field, descending } = sortKeyOf(parameter, asked);
    const director = directorOf(endpoint);
    const way = director && (pages[0]?.sent.query[director.name] ?? director.default?.value);
    return [{ field, descending: descending !== isTurning(way) }];
  };
  session.claim({
    fact,
    reason: sortedBy(word) + more,
    at: parameter.at,
    of: [seen] as const,
    judge(answer: TrialExchange | readonly TrialExchange[]) {
      const pages = pagesOf(answer);
      const order = orderIn(pages);
      return order.length === 0 ? moot('it was not asked for') : judgeOrder(session, pages, order);
    },
  });
  const made = list.rows.flatMap((row) => (row.made ? [row.made] : []));
  session.claim<readonly [TrialExchange | readonly TrialExchange[], ...TrialExchange[]]>({
    fact,
    reason: `ties, ${sortedBy(word)}${more}`,
    at: parameter.at,
    of: [seen, ...made],
    judge(answer, ...creations) {
      const pages = pagesOf(answer);
      return judgeTies(session, pages, orderIn(pages), creations);
    },
  });
}

/** Rows that are made neither in the order that is asked for, nor in the other one. */
function bodiesFor(
  { model }: Session,
  endpoint: Endpoint,
  field: string,
  own: OwnText,
): readonly Readonly<Record<string, Symbolic>>[] {
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const resource = model.resource(name);
  const shape = statedValue(resource && entryOf(resource.fields, field)?.shape);
  const [low, middle, high] = shape && !shape.enum && isSendable(model, name, field) ? valuesApart(shape, own) : [];
  if (low === undefined || middle === undefined || high === undefined) return [{}, {}, {}];
  const isUnique = resource?.unique.some(({ fields }) => fields.includes(field)) || field === model.identifierField(name);
  return [middle, high, low, ...(isUnique ? [] : [middle])].map((value) => ({ [field]: value }));
}
