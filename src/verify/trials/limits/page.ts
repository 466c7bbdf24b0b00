import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Pagination } from '../../../parts/limits.ts';
import type { Spec } from '../../../parts/spec.ts';

/** What one page of a list shows. */
export interface ShownPage {
  readonly items: readonly Json[];
  /** Whether there are more, as far as the page says. */
  readonly hasMore: boolean | undefined;
  readonly total: number | undefined;
}

/** How a list is paged; nothing where that is not stated. */
export function statedPaginationOf(spec: Spec, endpoint: Endpoint): Pagination | undefined {
  return statedValue(endpoint.pagination ?? spec.limits.pagination);
}

/** Reads a page by its stated envelope; nothing where the answer has another shape, or one that its endpoint states by itself. */
export function pageIn(pagination: Pagination, endpoint: Endpoint, body: Json | undefined): ShownPage | undefined {
  if (endpoint.response.standing !== 'open') return undefined;
  const { items: name } = pagination;
  if (name === undefined) return Array.isArray(body) ? { items: body, hasMore: undefined, total: undefined } : undefined;
  if (body === undefined || !isMap(body)) return undefined;
  const items = body[name];
  if (!Array.isArray(items)) return undefined;
  const { next, hasMore, total } = pagination;
  const more = hasMore === undefined ? undefined : body[hasMore];
  const following = next === undefined ? undefined : body[next];
  const count = total === undefined ? undefined : body[total];
  return {
    items,
    hasMore: typeof more === 'boolean' ? more : next === undefined ? undefined : following !== null && following !== undefined,
    total: typeof count === 'number' ? count : undefined,
  };
}
