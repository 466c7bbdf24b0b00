import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import { pageStyle } from '../../../kinds/pages/all.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { directorOf, isTurning, type Parameter, sortKeyOf } from '../../../parts/parameters.ts';
import { asText } from '../../exchange/as-text.ts';
import { isFlaw, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, isExchange, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { beginList, type OwnList } from '../../make/own-list.ts';
import { paginationOf, walkingPages } from '../../make/pages.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import { idIn, rowsShown, type ShownFields, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { OwnText, valuesApart } from '../../values/apart.ts';
import { rowsInOrder } from './compared.ts';

/** The rows of a page, references as identifiers. */
export function rowsOf(session: Session, exchange: TrialExchange): readonly ShownFields[] | undefined {
  const shown = rowsShown(session.model, exchange);
  return shown?.rows.map((row) => unexpanded(session.model, shown.resource, row));
}

/** The pages of a list that may have been shown as one. */
export function pagesOf(answer: TrialExchange | readonly TrialExchange[]): readonly TrialExchange[] {
  return isExchange(answer) ? [answer] : answer;
}

/** Whether the rows of a page come in an order; of a list in which nobody else makes rows, those of all pages do, and each is on one of them. */
function judgeOrder(session: Session, pages: readonly TrialExchange[], order: Endpoint['order'], isOwn: boolean): Judgement {
  if (!pages.every(isDone)) return moot('there are no two rows');
  const { model } = session;
  const stated = pages[0]?.endpoint && (statedValue(pages[0].endpoint.pagination ?? model.spec.limits.pagination) ?? undefined);
  const shown = pages.map((page) => rowsOf(session, page) ?? []);
  // Where rows that others make move the pages on, only what stands on one page is in order.
  const runs = stated && !isOwn && !pageStyle(stated.style).isSteady ? shown : [shown.flat()];
  const field = model.identifierField(resourceOfEffect(statedValue(pages[0]?.endpoint?.does)) ?? '');
  const ids = isOwn ? shown.flat().map((row) => asText(row[field])) : [];
  const again = ids.find((id, at) => id !== 'undefined' && ids.indexOf(id) < at);
  if (again !== undefined) return { promised: 'each row on one of the pages, in one order', seen: `${again} on two of them` };
  const judged = runs.filter((rows) => rows.length > 1).map((rows) => judgeRun(rows, order));
  // What one page leaves open another one shows.
  const isShown = judged.includes(undefined);
  return judged.find(isFlaw) ?? (isShown ? undefined : (judged[0] ?? moot('there are no two rows')));
}

/** The reason of a claim about the order in which a list comes by itself. Rows that do not differ by it could be in any, and show nothing. */
export const ordered = 'order';

function judgeRun(rows: readonly ShownFields[], order: Endpoint['order']): Judgement {
  const isTold = order.length === 0 || rows.some((row) => order.some(({ field }) => !isSame(row[field], rows[0]?.[field])));
  if (!isTold) return moot('no two rows differ by it');
  let isShown = order.length === 0;
  for (const [at, row] of rows.slice(1).entries()) {
    const before = rows[at] ?? {};
    const verdict = rowsInOrder(before, row, order);
    // Of texts of others, which are ordered otherwise elsewhere, nothing is said: of those beside them it is.
    if (verdict === 'right') isShown ||= order.some(({ field }) => !isSame(before[field], row[field]));
    if (verdict === 'wrong') {
      const told = order.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join(', ');
      const values = (one: ShownFields) => JSON.stringify(order.map(({ field }) => one[field] ?? null));
      return { promised: `in the order of ${told}`, seen: `${values(before)} before ${values(row)}` };
    }
  }
  return isShown ? undefined : moot('how two values are ordered is not for everybody the same');
}

/** Whether rows that an order does not tell apart come in the order in which they were made, or in the other where that is stated. */
function judgeTies(
  session: Session,
  pages: readonly TrialExchange[],
  order: Endpoint['order'],
  creations: readonly TrialExchange[],
): Judgement {
  const { model } = session;
  // What PUT found there was made before, nobody knows when.
  const made = creations.flatMap((one) => (isDone(one) && !isFound(one) ? [asText(idIn(model, one))] : []));
  const rows = pages.every(isDone) ? pages.flatMap((page) => rowsOf(session, page) ?? []) : [];
  const endpoint = pages[0]?.endpoint;
  const effect = statedValue(endpoint?.does);
  const isNewestFirst = endpoint?.ties === 'newest';
  const field = model.identifierField(resourceOfEffect(effect) ?? '');
  const own = rows.filter((row) => made.includes(asText(row[field])));
  let isSeen = false;
  for (const [at, row] of own.slice(1).entries()) {
    const before = own[at] ?? {};
    if (!order.every((one) => isSame(before[one.field], row[one.field]))) continue;
    isSeen = true;
    const isLater = made.indexOf(asText(before[field])) > made.indexOf(asText(row[field]));
    if (isLater !== isNewestFirst)
      return {
        promised: `${order.length > 0 ? `of rows with one ${order.map((one) => one.field).join(', ')}, ` : ''}that which was made ${isNewestFirst ? 'last' : 'first'}`,
        seen: `${asText(before[field])}, made ${isLater ? 'later' : 'earlier'}, before ${asText(row[field])}`,
      };
  }
  return isSeen ? undefined : moot('no two rows are alike');
}

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

/** What an endpoint's order is where no field is asked for: a direction, its own or its default, may turn it. */
function usualOrder(endpoint: Endpoint, asked?: Json): Endpoint['order'] {
  const isTurned = isTurning(asked ?? directorOf(endpoint)?.default?.value);
  return endpoint.order.map(({ field, descending }) => ({ field, descending: descending !== isTurned }));
}

/** The order that is stated, where none is asked for, and in each direction that can be asked for alone. */
export async function listInOrder(session: Session, endpoint: Endpoint): Promise<void> {
  const own = new OwnText();
  const bodies = bodiesFor(session, endpoint, endpoint.order[0]?.field ?? '', own);
  const list = await beginList(session, endpoint, { own, bodies, narrowedBut: [] });
  const director = directorOf(endpoint);
  const made = list.rows.flatMap((row) => (row.made ? [row.made] : []));
  const wayIn = (pages: readonly TrialExchange[]) => director && pages[0]?.sent.query[director.name];
  for (const query of [{}, ...waysOf(session.model, endpoint)]) {
    const seen = await list.all(query);
    const usual = { fact: { kind: 'response payload shapes', subject: endpoint.key }, at: `${endpoint.at}/order` };
    session.claim({
      ...usual,
      reason: ordered,
      of: [seen] as const,
      judge: (answer: TrialExchange | readonly TrialExchange[]) =>
        judgeOrder(session, pagesOf(answer), usualOrder(endpoint, wayIn(pagesOf(answer))), list.isOwn),
    });
    session.claim<readonly [TrialExchange | readonly TrialExchange[], ...TrialExchange[]]>({
      ...usual,
      reason: tiesIn('as it comes'),
      of: [seen, ...made],
      judge: (answer, ...creations) =>
        judgeTies(session, pagesOf(answer), usualOrder(endpoint, wayIn(pagesOf(answer))), creations),
    });
  }
}

/** Each direction that can be asked for. */
function waysOf({ spec }: Model, endpoint: Endpoint): readonly Readonly<Record<string, Json>>[] {
  const director = directorOf(endpoint);
  const { properties } = paramsShape(spec, endpoint);
  const shape = director && isMap(properties) ? properties[director.name] : undefined;
  const ways = isMap(shape) ? shape.enum : undefined;
  return director && Array.isArray(ways) ? (ways as readonly Json[]).map((way) => ({ [director.name]: way })) : [];
}

/** A list sorted by each word for one field, over values that texts would order otherwise, two of them the same. */
export async function listSorted(session: Session, endpoint: Endpoint, parameter: Parameter, field: string): Promise<void> {
  const own = new OwnText();
  const bodies = bodiesFor(session, endpoint, field, own);
  const list = await beginList(session, endpoint, { own, bodies, narrowedBut: [] });
  const directed = waysOf(session.model, endpoint);
  for (const word of sortWords(session, endpoint, parameter).get(field) ?? []) {
    let first = 0;
    for (const more of [{}, ...directed]) {
      const seen = await list.all({ [parameter.name]: word, ...more });
      claimSorted(session, endpoint, { parameter, word, seen, list });
      if (Object.keys(more).length === 0) first = firstApart(session, pagesOf(seen.value), field);
    }
    const { size, max = smallPage } = paginationOf(session.model, endpoint) ?? {};
    if (size === undefined) continue;
    // What is asked for is kept from page to page, whatever a page says of the next one: the second has rows that differ.
    const wide = Math.min(max, Math.max(smallPage, Math.ceil((first + 2) / 2)));
    const pages = Math.min(pagesMost, Math.max(pagesSeen, Math.ceil((first + 2) / wide)));
    const plan = list.plan({ [parameter.name]: word, [size]: wide });
    const walk = await session.do(walkingPages(session.model, plan, undefined, pages));
    claimSorted(session, endpoint, { parameter, word, seen: walk, list, more: pageAfterPage });
  }
}

/** The place of the first row of a list that differs from the one before it; of one in which none does, the first. */
function firstApart(session: Session, pages: readonly TrialExchange[], field: string): number {
  const values = pages.flatMap((page) => rowsOf(session, page) ?? []).map((row) => row[field]);
  return Math.max(
    0,
    values.findIndex((value, at) => at > 0 && !isSame(value, values[at - 1])),
  );
}

/** The reason of a claim that a list is sorted, and what it ends with where that was seen over several pages. */
export const sortedBy = (word: string): string => `sorted by ${word}`;
export const pageAfterPage = ', page after page';

/** Of so many rows there are several pages. */
const smallPage = 2;
const pagesSeen = 3;
const pagesMost = 8;

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
      return order.length === 0 ? moot('it was not asked for') : judgeOrder(session, pages, order, list.isOwn);
    },
  });
  const made = list.rows.flatMap((row) => (row.made ? [row.made] : []));
  session.claim<readonly [TrialExchange | readonly TrialExchange[], ...TrialExchange[]]>({
    fact,
    reason: tiesIn(sortedBy(word) + more),
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
  const sent = ordersApart(model, endpoint, field, own).length > 0 ? field : inputOf(model, endpoint, field);
  const [low, middle, high] = ordersApart(model, endpoint, sent, own);
  if (low === undefined || middle === undefined || high === undefined) return [{}, {}, {}];
  const more = isAloneIn(model, endpoint, field) ? [] : [middle];
  return [middle, high, low, ...more].map((value) => ({ [sent]: value }));
}

/** What is sent of a new row and decides what the service sets or derives in a field: its first number; the field itself where there is none. */
function inputOf(model: Model, endpoint: Endpoint, field: string): string {
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const stated = entryOf(model.resource(name)?.fields, field);
  const reckoned = stated?.set.create ?? stated?.set.write ?? stated?.derive;
  const read = reckoned ? model.expressions.readsOf(reckoned, undefined) : [];
  const inputs = read.flatMap(({ root, path: [first, ...deeper] }) =>
    root !== 'caller' && first !== undefined && deeper.length === 0 && isSendable(model, name, first) ? [first] : [],
  );
  const isNumber = (one: string) => {
    const { type, enum: words } = statedValue(entryOf(model.resource(name)?.fields, one)?.shape ?? stated!.shape) ?? {};
    return words === undefined && (type === 'integer' || type === 'number');
  };
  return inputs.find(isNumber) ?? field;
}

function ordersApart(model: Model, endpoint: Endpoint, field: string, own: OwnText): readonly Symbolic[] {
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const resource = model.resource(name);
  const shape = statedValue(resource && entryOf(resource.fields, field)?.shape);
  return shape && !shape.enum && isSendable(model, name, field) ? valuesApart(shape, own) : [];
}

/** Whether no two rows have the same value of a field. */
function isAloneIn(model: Model, endpoint: Endpoint, field: string): boolean {
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  return (
    model.resource(name)?.unique.some(({ fields }) => fields.includes(field)) === true || field === model.identifierField(name)
  );
}

/** Whether rows can be made that an order by one field does not tell apart. */
export function hasTies(model: Model, endpoint: Endpoint, field: string): boolean {
  return !isAloneIn(model, endpoint, field) && ordersApart(model, endpoint, field, new OwnText()).length > 2;
}

/** Whether a row was there before the request that is taken to make it. */
const isFound = ({ status, endpoint }: TrialExchange): boolean => endpoint?.method === 'PUT' && status !== 201;

/** The reason of a claim about rows that an order does not tell apart. */
export const tiesIn = (sorted: string): string => `ties, ${sorted}`;
