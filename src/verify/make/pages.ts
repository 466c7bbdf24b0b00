import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Pagination } from '../../parts/limits.ts';
import type { Model } from '../model/model.ts';
import { itemsOf } from '../model/row-shown.ts';
import type { Exchange } from '../script/exchange.ts';
import type { Done } from '../script/step.ts';
import { Captured, type Symbolic } from '../script/symbol.ts';

/** How a list is cut into pages; nothing where it is not, or that is open. */
export function paginationOf(model: Model, endpoint: Endpoint): Pagination | undefined {
  const pagination = statedValue(endpoint.pagination ?? model.spec.limits.pagination);
  return pagination?.style === 'none' ? undefined : pagination;
}

/** The query that asks for the page after one, with its values taken from that page; nothing after the last. */
export function nextPage(model: Model, done: Done<Exchange>): Readonly<Record<string, Symbolic>> | undefined {
  const { endpoint } = done.value;
  const pagination = endpoint && paginationOf(model, endpoint);
  const items = itemsOf(model, done.value);
  if (!pagination || !items || !hasNextPage(model, done.value)) return undefined;
  const { style } = pagination;
  if (style === 'offset')
    return { [pagination.offset ?? 'offset']: numberIn(done.value, pagination.offset ?? 'offset', 0) + items.length };
  if (style === 'page') return { [pagination.page ?? 'page']: numberIn(done.value, pagination.page ?? 'page', 1) + 1 };
  if (style === 'after') {
    const effect = statedValue(endpoint.does);
    const field = model.identifierField(effect && 'resource' in effect ? effect.resource : '');
    const pointer = [...(pagination.items === undefined ? [] : [pagination.items]), items.length - 1, field];
    return { [pagination.after ?? 'after']: new Captured(done.step, { in: 'body', pointer }) };
  }
  const name = pagination.cursor ?? 'cursor';
  if (pagination.told !== 'link' && pagination.next !== undefined) {
    return { [name]: new Captured(done.step, { in: 'body', pointer: [pagination.next] }) };
  }
  const pattern = `[?&]${name.replaceAll(/\W/g, '\\$&')}=([^&>]+)[^>]*>; *rel="?next`;
  return { [name]: new Captured(done.step, { in: 'header', name: 'link', pattern }) };
}

/** The query that asks for the largest pages there are. */
export function widest(model: Model, endpoint: Endpoint): Readonly<Record<string, number>> {
  const pagination = paginationOf(model, endpoint);
  return pagination?.size === undefined || pagination.max === undefined ? {} : { [pagination.size]: pagination.max };
}

/** Whether a page says that there is another: by its envelope or its link, else by being full. */
export function hasNextPage(model: Model, exchange: Exchange): boolean {
  const pagination = exchange.endpoint && paginationOf(model, exchange.endpoint);
  const count = itemsOf(model, exchange)?.length ?? 0;
  return pagination !== undefined && count > 0 && hasNext(pagination, exchange, count);
}

function hasNext(pagination: Pagination, exchange: Exchange, count: number): boolean {
  const { body, headers } = exchange;
  const size = numberIn(exchange, pagination.size ?? 'size', pagination.default ?? count);
  const envelope = isMap(body) ? body : {};
  if (pagination.told !== 'link') {
    if (pagination.hasMore !== undefined && typeof envelope[pagination.hasMore] === 'boolean')
      return envelope[pagination.hasMore] === true;
    if (pagination.next !== undefined) return envelope[pagination.next] !== null && envelope[pagination.next] !== undefined;
  }
  if (pagination.told !== 'body') return /rel="?next/.test(headers.link ?? '');
  const total = pagination.total === undefined ? undefined : envelope[pagination.total];
  if (typeof total !== 'number') return count >= size;
  const page = numberIn(exchange, pagination.page ?? 'page', 1);
  const from = pagination.style === 'page' ? (page - 1) * size : numberIn(exchange, pagination.offset ?? 'offset', 0);
  return from + count < total;
}

function numberIn({ sent }: Exchange, name: string, otherwise: number): number {
  const value = Number(sent.query[name] ?? otherwise);
  return Number.isFinite(value) ? value : otherwise;
}
