import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { pageStyle } from '../../kinds/pages/all.ts';
import { type PageStyle, parametersOf } from '../../kinds/pages/kind.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { isCut, type Pagination } from '../../parts/limits.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { Done, ScriptRun, Step } from '../exchange/step.ts';
import { Captured, resolve, type Symbolic } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import { itemsOf } from '../model/row-shown.ts';
import { sending } from '../session/request.ts';

/** How a list is cut into pages; nothing where it is not, or that is open. */
export function paginationOf(model: Model, endpoint: Endpoint): Pagination | undefined {
  const pagination = statedValue(endpoint.pagination ?? model.spec.limits.pagination);
  return isCut(pagination) ? pagination : undefined;
}

/** The query that asks for the page after one, with its values taken from that page; nothing after the last. */
export function nextPage(model: Model, done: Done<TrialExchange>): Readonly<Record<string, Symbolic>> | undefined {
  const { endpoint } = done.value;
  const pagination = endpoint && paginationOf(model, endpoint);
  const items = itemsOf(model, done.value);
  if (!pagination || !items || !hasNextPage(model, done.value)) return undefined;
  const { tells, count, isFirst }: PageStyle = pageStyle(pagination.style);
  const name = placeOf(pagination);
  const pattern = `[?&]${name.replaceAll(/\W/g, '\\$&')}=([^&>]+)[^>]*>; *rel="?next`;
  const isLinked = pagination.isToldInLink && new RegExp(pattern).test(done.value.headers.link ?? '');
  const linked = { [name]: new Captured(done.step, { in: 'header', name: 'link', pattern }) };
  if (tells === 'token' || isFirst) {
    const isInBody = pagination.isToldInBody && pagination.next !== undefined;
    return isInBody ? { [name]: new Captured(done.step, { in: 'body', pointer: [pagination.next ?? ''] }) } : linked;
  }
  // Where a link says what the next page is, that is what is asked for.
  if (isLinked) return linked;
  if (count) return { [name]: count.following(numberIn(done.value, name, count.least), items.length) };
  const effect = statedValue(endpoint.does);
  const field = model.identifierField(effect && 'resource' in effect ? effect.resource : '');
  const pointer = [...(pagination.items === undefined ? [] : [pagination.items]), items.length - 1, field];
  return { [name]: new Captured(done.step, { in: 'body', pointer }) };
}

/** The parameter that says which page is meant. */
function placeOf(pagination: Pagination): string {
  const [forward] = parametersOf(pageStyle(pagination.style), pagination);
  return forward?.name ?? pagination.style;
}

/** The query that asks for the largest pages there are. */
export function widest(model: Model, endpoint: Endpoint): Readonly<Record<string, number>> {
  const pagination = paginationOf(model, endpoint);
  return pagination?.size === undefined || pagination.max === undefined ? {} : { [pagination.size]: pagination.max };
}

/** Whether a page says that there is another: by its envelope or its link, else by being full. */
export function hasNextPage(model: Model, exchange: TrialExchange): boolean {
  const pagination = exchange.endpoint && paginationOf(model, exchange.endpoint);
  const count = itemsOf(model, exchange)?.length ?? 0;
  if (!pagination || count === 0) return false;
  return tellsNextPage(model, exchange) ?? count >= numberIn(exchange, pagination.size ?? 'size', pagination.default ?? count);
}

/** Whether a page says that there is another; nothing where its style has no way to say so. */
export function tellsNextPage(model: Model, exchange: TrialExchange): boolean | undefined {
  const { endpoint, body, headers } = exchange;
  const pagination = endpoint && paginationOf(model, endpoint);
  if (!pagination) return undefined;
  const envelope = isMap(body) ? body : {};
  if (pagination.isToldInBody) {
    if (pagination.hasMore !== undefined && typeof envelope[pagination.hasMore] === 'boolean')
      return envelope[pagination.hasMore] === true;
    if (pagination.next !== undefined) return envelope[pagination.next] !== null && envelope[pagination.next] !== undefined;
  }
  if (pagination.isToldInLink) return /rel="?next/.test(headers.link ?? '');
  const total = totalOf(model, exchange);
  if (total === undefined) return undefined;
  const count = itemsOf(model, exchange)?.length ?? 0;
  const size = numberIn(exchange, pagination.size ?? 'size', pagination.default ?? count);
  const place = pageStyle(pagination.style).count;
  const from = place ? place.skip(numberIn(exchange, placeOf(pagination), place.least), size) : 0;
  return from + count < total;
}

/** How many rows a page says that there are on all pages. */
export function totalOf(model: Model, { endpoint, body }: TrialExchange): number | undefined {
  const { total } = (endpoint && paginationOf(model, endpoint)) ?? {};
  const value = total === undefined || !isMap(body) ? undefined : body[total];
  return typeof value === 'number' ? value : undefined;
}

function numberIn({ sent }: TrialExchange, name: string, otherwise: number): number {
  const value = Number(sent.query[name] ?? otherwise);
  return Number.isFinite(value) ? value : otherwise;
}

const pagesMax = 60;

/** The step that goes through all pages of a list, or the first of them, however many there are in that run; after the first one, something else may be sent. */
export function walkingPages(
  model: Model,
  first: RequestPlan,
  between?: RequestPlan,
  most: number = pagesMax,
): Step<readonly TrialExchange[]> {
  const firstStep = sending(first);
  const other = between && sending(between);
  return {
    says: `${firstStep.says}, page after page${other ? `, with ${other.says} after the first` : ''}`,
    takes: [...firstStep.takes, ...(other?.takes ?? [])],
    async act(run) {
      const pages: TrialExchange[] = [];
      let plan: RequestPlan | undefined = first;
      while (plan && pages.length < most) {
        const page: TrialExchange = await sending(plan).act(run);
        pages.push(page);
        if (other && pages.length === 1) await other.act(run);
        const next: Readonly<Record<string, Json>> | undefined = isDone(page) ? nextQuery(model, page, run) : undefined;
        plan = next && { ...first, query: { ...first.query, ...next } };
      }
      return pages;
    },
    tell: (pages) => pages.map((page) => `${page.status}, ${itemsOf(model, page)?.length ?? 0} rows`).join('; '),
    shell: (names) => [
      ...firstStep.shell(names),
      ...(other ? other.shell(names) : []),
      '# and so on, page after page, each asked for as the one before says',
    ],
  };
}

/** Whether as many pages were read as are read at the most, so that there may be more. */
export function mayGoOn(pages: readonly TrialExchange[]): boolean {
  return pages.length >= pagesMax;
}

/** The query of the next page with the values of this one in it. */
function nextQuery(model: Model, page: TrialExchange, run: ScriptRun): Readonly<Record<string, Json>> | undefined {
  const next = nextPage(model, { step: 0, value: page });
  // The cast holds: what is resolved from a map is a map.
  return next && (resolve(next, { ...run, results: [page] }) as Readonly<Record<string, Json>>);
}
