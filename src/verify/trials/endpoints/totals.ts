import { isMap, isSame } from '../../../document/values.ts';
import { pageStyle } from '../../../kinds/pages/all.ts';
import { type NamedParameter, parametersOf } from '../../../kinds/pages/kind.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { sortKeyOf } from '../../../parts/parameters.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable, Untestable } from '../../exchange/untestable.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { beginList } from '../../make/own-list.ts';
import { hasNextPage, mayGoOn, nextPage, paginationOf, tellsNextPage, totalOf, walkingPages, widest } from '../../make/pages.ts';
import type { Model } from '../../model/model.ts';
import { idIn, itemsOf } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf, Reference } from '../../values/values.ts';
import { rowsOf, sortWords } from './order.ts';

/** The reason of a claim about a total beside rows that its reader may not see. */
export const totalBesideHidden = 'a total beside rows that are hidden';

/** Whether a list leaves out rows by what they are, for somebody who was given. */
export function hidesRows(model: Model, endpoint: Endpoint): boolean {
  return model.callers.some((caller) => isNarrowedFor(model, endpoint, caller));
}

function isNarrowedFor(model: Model, endpoint: Endpoint, caller: TrialCaller): boolean {
  const rules = model.access.rules(model.operationOf(endpoint), caller) ?? [];
  return rules.length > 0 && rules.every((rule) => rule.if);
}

/** The whole list, read by somebody who may not see all of it: what it says that there is, is what it shows. */
export function totalCases(model: Model, endpoint: Endpoint): readonly Case[] {
  if (paginationOf(model, endpoint)?.total === undefined || pathParameters(endpoint.path).length > 0) return [];
  if (endpoint.response.standing !== 'open' || !hidesRows(model, endpoint)) return [];
  const facts = [{ kind: 'pagination bounds', subject: endpoint.key }];
  return [{ name: `${endpoint.key}, its total`, facts, run: (session) => countHidden(session, endpoint) }];
}

async function countHidden(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const reader = model.callers.find((caller) => isNarrowedFor(model, endpoint, caller));
  session.need(reader !== undefined, 'whoever may call it sees all');
  await ifTestable(session.make(resource, { caller: reader }));
  const foreign = await rowOfAnother(session, resource, reader);
  const first = model.request(endpoint, { path: {}, caller: reader, query: widest(model, endpoint) });
  const walk = await session.do(walkingPages(model, { ...first, isWhole: true }));
  session.claim({
    fact: { kind: 'pagination bounds', subject: endpoint.key },
    reason: totalBesideHidden,
    of: [walk, foreign] as const,
    judge: (pages: readonly TrialExchange[], made: TrialExchange): Judgement => {
      const id = isDone(made) ? idIn(model, made) : undefined;
      if (id === undefined) return moot('nobody else made a row');
      const field = model.identifierField(resource);
      const isShown = pages.some((page) => rowsOf(session, page)?.some((row) => asText(row[field]) === asText(id)));
      return isShown ? moot('its reader may see it') : judgeTotal(session, pages);
    },
  });
}

/** A row that somebody else makes, with whatever it needs. @throws {Untestable} */
async function rowOfAnother(session: Session, resource: string, reader: TrialCaller) {
  for (const other of session.model.callers) {
    if (other === reader || (other.user === reader.user && other.id === reader.id)) continue;
    try {
      const { made } = await session.make(resource, { caller: other });
      if (made) return made;
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
    }
  }
  throw new Untestable(`nobody else makes a ${resource}`);
}

/** No row twice. */
export function judgeOnce(session: Session, pages: readonly TrialExchange[]): Judgement {
  // Pages that never end show it as well as all of them do.
  const ids = shownOn(session, pages) ?? [];
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice === undefined && !idsOf(session, pages)) return moot('not all pages were shown');
  return twice === undefined ? undefined : { promised: 'every row once', seen: `${twice} twice` };
}

/** The rows that were made are among those that all pages show. */
export function judgeShown(session: Session, pages: readonly TrialExchange[], creations: readonly TrialExchange[]): Judgement {
  const ids = idsOf(session, pages);
  const made = creations.filter(isDone).map((one) => asText(idIn(session.model, one)));
  if (!ids || made.length === 0) return moot('not all pages were shown, or no row was made');
  const lost = made.find((id) => !ids.includes(id));
  return lost === undefined ? undefined : { promised: `every row, ${lost} too`, seen: `${ids.length} rows without it` };
}

/** A page that says that there is another is followed by one on which there is something. */
export function judgeLast({ model }: Session, pages: readonly TrialExchange[]): Judgement {
  if (pages.some((one) => !isDone(one) || !itemsOf(model, one))) return moot('not all pages were shown');
  const empty = pages.findIndex((one, at) => at > 0 && itemsOf(model, one)?.length === 0);
  const before = pages[empty - 1];
  const counts = pages.map((one) => itemsOf(model, one)?.length ?? 0);
  // Of a page with room left everybody sees that it is the last.
  if (!before && mayGoOn(pages)) return moot('not all pages were gone through');
  if (!before && !isLastFull(model, pages, counts)) return moot('its last page is not full');
  const last = pages.at(-1);
  const promised = `page ${before ? empty : pages.length} says that it is the last`;
  if (!before && last && tellsNextPage(model, last) === true) return { promised, seen: 'it says that there is another' };
  if (!before) return pages.every((one) => tellsNextPage(model, one) !== undefined) ? undefined : moot('no page says it');
  return tellsNextPage(model, before) === true
    ? { promised, seen: 'it says that there is another, on which there is nothing' }
    : moot('no page says it');
}

/** Whether the last of several pages has as many rows as the first, and a page alone as many as were asked for. */
function isLastFull(model: Model, [first]: readonly TrialExchange[], counts: readonly number[]): boolean {
  const [most = 0, ...others] = counts;
  const size = first?.endpoint && paginationOf(model, first.endpoint)?.size;
  const asked = others.length > 0 || size === undefined ? most : Number(first?.sent.query[size] ?? Number.NaN);
  return (counts.at(-1) ?? 0) >= asked && (others.length > 0 || asked > 0);
}

/** A link to the next page leads to one of the same list: it has the filters and the order that were asked for. */
export function judgeLinks({ model }: Session, pages: readonly TrialExchange[]): Judgement {
  let isSeen = false;
  for (const { endpoint, sent, headers } of pages) {
    const [, target] = /<([^>]*)>[^,<]*; *rel="?next/.exec(headers.link ?? '') ?? [];
    if (!endpoint || target === undefined || paginationOf(model, endpoint)?.isToldInLink === false) continue;
    const query = new URL(target, 'http://list').searchParams;
    for (const [name, { in: place }] of entriesOf(endpoint.parameters)) {
      const asked = sent.query[name];
      if (place !== 'query' || typeof asked === 'object' || asked === undefined) continue;
      isSeen = true;
      if (query.get(name) !== asText(asked))
        return { promised: `a link to the next page of those with ${name}=${asText(asked)}`, seen: target };
    }
  }
  return isSeen ? undefined : moot('no page has a link, or nothing was asked for');
}

/** As many rows as each page says that there are. */
export function judgeTotal(session: Session, pages: readonly TrialExchange[]): Judgement {
  const ids = idsOf(session, pages);
  if (!ids || new Set(ids).size < ids.length) return moot('not all pages were shown, or rows twice');
  const totals = pages.map((one) => totalOf(session.model, one));
  const wrong = totals.find((total) => total !== undefined && total !== ids.length);
  if (wrong !== undefined) return { promised: `a total of ${ids.length}, which is what all pages show`, seen: asText(wrong) };
  return totals.some((total) => total !== undefined) ? undefined : moot('no page says it');
}

/** No more rows on a page than were asked for. */
export function judgeSize({ model }: Session, pages: readonly TrialExchange[]): Judgement {
  const [first] = pages;
  const size = first?.endpoint && paginationOf(model, first.endpoint)?.size;
  if (size === undefined || first?.sent.query[size] === undefined) return moot('no size was asked for');
  const large = pages.find((one) => (itemsOf(model, one)?.length ?? 0) > Number(one.sent.query[size]));
  return large
    ? { promised: `at most ${asText(large.sent.query[size])} rows`, seen: asText(itemsOf(model, large)?.length) }
    : undefined;
}

/** The identifiers on all pages; nothing where not all of them were shown. */
function idsOf(session: Session, pages: readonly TrialExchange[]): readonly string[] | undefined {
  const last = pages.at(-1);
  return last === undefined || hasNextPage(session.model, last) ? undefined : shownOn(session, pages);
}

/** The identifiers on these pages; nothing where one of them shows no rows. */
function shownOn(session: Session, pages: readonly TrialExchange[]): readonly string[] | undefined {
  const effect = statedValue(pages.at(-1)?.endpoint?.does);
  const field = session.model.identifierField(resourceOfEffect(effect) ?? '');
  if (pages.some((one) => !isDone(one) || !rowsOf(session, one))) return undefined;
  return pages.flatMap((one) => (rowsOf(session, one) ?? []).map((row) => asText(row[field])));
}

/** Each page says the path that it was asked for under, where an envelope has a member for that. */
export function judgeSelf({ model }: Session, pages: readonly TrialExchange[]): Judgement {
  for (const { endpoint, status, body = null, sent } of pages) {
    const self = endpoint?.response.standing === 'open' ? paginationOf(model, endpoint)?.self : undefined;
    if (self === undefined || status !== 200 || !isMap(body)) return moot('no page tells its path');
    const path = sent.target.split('?')[0];
    if (body[self] !== path) return { promised: `${self}: ${path}`, seen: JSON.stringify(body[self] ?? null) };
  }
  return undefined;
}

/** A cursor is bound to the query that it was given for. */
export const cursors: Trial = {
  name: 'endpoints/cursors',
  part: 'endpoints',
  about: 'A cursor of another query, or of none, is refused.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const pagination = paginationOf(model, endpoint);
      if (statedValue(endpoint.does)?.verb !== 'list' || !pagination) continue;
      if (pageStyle(pagination.style).tells !== 'token') continue;
      if (endpoint.response.standing !== 'open') continue;
      const facts = [{ kind: 'pagination bounds', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => sendCursors(session, endpoint) };
    }
  },
};

async function sendCursors(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const pagination = paginationOf(model, endpoint);
  session.need(pagination !== undefined, 'the list has no pages');
  const [place] = parametersOf(pageStyle(pagination.style), pagination);
  session.need(place !== undefined, 'no parameter says which page is meant');
  const { name: cursor } = place;
  const list = await beginList(session, endpoint, { bodies: [{}, {}], narrowedBut: [] });
  const fact = { kind: 'pagination bounds', subject: endpoint.key };
  const by = { when: 'limit.page' } as const;
  const { nearMisses } = place.parameter;
  for (const missed of nearMisses) {
    claimRefused(session, await list.ask({ [cursor]: missed }), {
      by,
      fact,
      reason: 'a cursor that is none',
      what: 'a cursor that the service never gave',
      isSo: ({ sent }) => sent.query[cursor] === missed,
    });
  }
  const size = pagination.size === undefined ? {} : { [pagination.size]: 1 };
  const first = await list.ask(size);
  const next = nextPage(model, first);
  session.need(next !== undefined, 'no page of the list told of another');
  for (const other of otherQueries(session, endpoint)) {
    // A value that was drawn may be refused for itself.
    const plain = await list.ask({ ...size, ...other });
    claimRefused(session, await list.ask({ ...size, ...other, ...next }), {
      by,
      fact,
      reason: 'a cursor of another query',
      what: `a cursor that was given without ${Object.keys(other).join()}`,
      beside: [first, plain],
      isSo: ({ sent }, page, alone) =>
        page !== undefined && isDone(page) && alone !== undefined && isDone(alone) && isOfAnother(sent, page, place),
    });
  }
}

/** Whether a request goes on from a page with another query than that of the page. */
function isOfAnother(sent: TrialExchange['sent'], page: TrialExchange, { name, parameter }: NamedParameter): boolean {
  const { [name]: given, ...query } = sent.query;
  const isMissed = parameter.nearMisses.some((missed) => missed === given);
  return given !== undefined && !isMissed && !isSame(query, page.sent.query);
}

/** Queries of the same list that are not the first one: with another order, with a filter. */
function* otherQueries(session: Session, endpoint: Endpoint): Iterable<Readonly<Record<string, Symbolic>>> {
  const { model } = session;
  const parameters = entriesOf(endpoint.parameters).filter(([, stated]) => stated.in === 'query');
  for (const [name, stated] of parameters.filter(([, one]) => one.sorts)) {
    const usual = endpoint.order.map(({ field, descending }) => `${descending ? '-' : ''}${field}`);
    const words = [...sortWords(session, endpoint, stated).values()].flat();
    const named = (one: string) => `${one.startsWith('-') ? '-' : ''}${sortKeyOf(stated, one).field}`;
    const word = words.find((one) => !usual.includes(named(one)) && one !== stated.default?.value);
    if (word === undefined) continue;
    yield { [name]: word };
    break;
  }
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const { properties } = paramsShape(model.spec, endpoint);
  for (const [name, stated] of parameters.filter(([, one]) => one.filters !== undefined && one.op !== 'in')) {
    const own = isMap(properties) ? properties[name] : undefined;
    const shape = isMap(own) ? own : statedValue(resource && entryOf(resource.fields, stated.filters ?? name)?.shape);
    const value = shape && shape.ref === undefined ? drawn(session, shape) : undefined;
    if (value === undefined) continue;
    yield { [name]: value };
    break;
  }
}

function drawn(session: Session, shape: Parameters<typeof arbitraryValuesOf>[1]): Symbolic | undefined {
  try {
    const draft = session.chance.value(arbitraryValuesOf(session.model.spec, shape, 'plain'));
    return draft instanceof Reference ? undefined : (draft as Symbolic);
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}
