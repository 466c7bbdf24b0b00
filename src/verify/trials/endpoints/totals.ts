import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { ifTestable, Untestable } from '../../exchange/untestable.ts';
import { hasNextPage, paginationOf, tellsNextPage, totalOf, walkingPages, widest } from '../../make/pages.ts';
import type { Model } from '../../model/model.ts';
import { idIn, itemsOf } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case } from '../../session/trial.ts';
import { rowsOf } from './order.ts';

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
      const isShown = pages.some((page) => rowsOf(session, page)?.some((row) => String(row[field]) === String(id)));
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
  const ids = idsOf(session, pages);
  if (!ids) return moot('not all pages were shown');
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  return twice === undefined ? undefined : { promised: 'every row once', seen: `${twice} twice` };
}

/** The rows that were made are among those that all pages show. */
export function judgeShown(session: Session, pages: readonly TrialExchange[], creations: readonly TrialExchange[]): Judgement {
  const ids = idsOf(session, pages);
  const made = creations.filter(isDone).map((one) => String(idIn(session.model, one)));
  if (!ids || made.length === 0) return moot('not all pages were shown, or no row was made');
  const lost = made.find((id) => !ids.includes(id));
  return lost === undefined ? undefined : { promised: `every row, ${lost} too`, seen: `${ids.length} rows without it` };
}

/** A page that says that there is another is followed by one on which there is something. */
export function judgeLast({ model }: Session, pages: readonly TrialExchange[]): Judgement {
  if (pages.some((one) => !isDone(one) || !itemsOf(model, one))) return moot('not all pages were shown');
  const empty = pages.findIndex((one, at) => at > 0 && itemsOf(model, one)?.length === 0);
  const before = pages[empty - 1];
  if (!before) return pages.every((one) => tellsNextPage(model, one) !== undefined) ? undefined : moot('no page says it');
  return tellsNextPage(model, before) === true
    ? { promised: `page ${empty} says that it is the last`, seen: 'it says that there is another, on which there is nothing' }
    : moot('no page says it');
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
      if (query.get(name) !== String(asked))
        return { promised: `a link to the next page of those with ${name}=${String(asked)}`, seen: target };
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
  if (wrong !== undefined) return { promised: `a total of ${ids.length}, which is what all pages show`, seen: String(wrong) };
  return totals.some((total) => total !== undefined) ? undefined : moot('no page says it');
}

/** No more rows on a page than were asked for. */
export function judgeSize({ model }: Session, pages: readonly TrialExchange[]): Judgement {
  const [first] = pages;
  const size = first?.endpoint && paginationOf(model, first.endpoint)?.size;
  if (size === undefined || first?.sent.query[size] === undefined) return moot('no size was asked for');
  const large = pages.find((one) => (itemsOf(model, one)?.length ?? 0) > Number(one.sent.query[size]));
  return large
    ? { promised: `at most ${String(large.sent.query[size])} rows`, seen: String(itemsOf(model, large)?.length) }
    : undefined;
}

/** The identifiers on all pages; nothing where not all of them were shown. */
function idsOf(session: Session, pages: readonly TrialExchange[]): readonly string[] | undefined {
  const { model } = session;
  const last = pages.at(-1);
  const effect = statedValue(last?.endpoint?.does);
  const field = model.identifierField(resourceOfEffect(effect) ?? '');
  if (!last || pages.some((one) => !isDone(one) || !rowsOf(session, one)) || hasNextPage(model, last)) return undefined;
  return pages.flatMap((one) => (rowsOf(session, one) ?? []).map((row) => String(row[field])));
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
