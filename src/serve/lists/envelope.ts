import type { Pagination } from '../../parts/limits.ts';
import type { Call } from '../call.ts';
import type { Fields } from '../exchange.ts';
import type { Page } from './page.ts';

/** Whether the answers of a list say where the page before it is. */
export function tellsPrevious(pagination: Pagination | undefined): boolean {
  return pagination !== undefined && (pagination.told !== 'body' || pagination.previous !== undefined);
}

/** Puts the joined texts of a page's rows into the stated envelope: what comes before them, and what comes after. Without one, they are a bare array. */
export type Envelope = (page: Page) => readonly [head: string, tail: string];

export function compileEnvelope(pagination: Pagination | undefined): Envelope {
  const items = pagination?.items;
  if (!pagination || items === undefined) return () => bareArray;
  const constants = Object.entries(pagination.data)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`)
    .join('');
  const head = `{${constants}${JSON.stringify(items)}:[`;
  const isToldInBody = pagination.told !== 'link';
  const told: readonly (readonly [name: string | undefined, of: 'next' | 'previous' | 'hasMore' | 'total'])[] = [
    [isToldInBody ? pagination.next : undefined, 'next'],
    [isToldInBody ? pagination.previous : undefined, 'previous'],
    [pagination.hasMore, 'hasMore'],
    [pagination.total, 'total'],
  ];
  const members = told.flatMap(([name, of]) => (name === undefined ? [] : [{ start: `,${JSON.stringify(name)}:`, of }]));
  return (page) => {
    let tail = ']';
    for (const { start, of } of members) tail += start + JSON.stringify(page[of]);
    return [head, `${tail}}`];
  };
}

const bareArray = ['[', ']'] as const;

/** A page in the stated envelope as a value; nothing where there is none. */
export function envelopeOf(pagination: Pagination | undefined, items: readonly Fields[], page: Page): Fields | undefined {
  if (pagination?.items === undefined) return undefined;
  const { next, previous, hasMore, total, told, data } = pagination;
  const out: Fields = { ...data, [pagination.items]: items };
  if (next !== undefined && told !== 'link') out[next] = page.next;
  if (previous !== undefined && told !== 'link') out[previous] = page.previous;
  if (hasMore !== undefined) out[hasMore] = page.hasMore;
  if (total !== undefined) out[total] = page.total;
  return out;
}

/** The `Link` header of a page (RFC 8288), where pages are told by it: the caller's own query with the paging parameters changed. */
export function linkHeader(pagination: Pagination | undefined, page: Page, call: Call): string | undefined {
  if (!pagination || pagination.told === 'body' || pagination.style === 'none') return undefined;
  const { style } = pagination;
  const forward =
    style === 'cursor'
      ? (pagination.cursor ?? 'cursor')
      : style === 'after'
        ? (pagination.after ?? 'after')
        : style === 'offset'
          ? (pagination.offset ?? 'offset')
          : (pagination.page ?? 'page');
  const backward = style === 'after' ? pagination.before : forward;
  const links: string[] = [];
  if (page.next !== null) links.push(`<${withParameter(call, [forward, backward], forward, page.next)}>; rel="next"`);
  if (page.previous !== null && backward !== undefined)
    links.push(`<${withParameter(call, [forward, backward], backward, page.previous)}>; rel="prev"`);
  if (style !== 'after' || page.previous !== null)
    links.push(`<${withParameter(call, [forward, backward], undefined, undefined)}>; rel="first"`);
  return links.join(', ');
}

function withParameter(
  call: Call,
  dropped: readonly (string | undefined)[],
  name: string | undefined,
  value: string | number | undefined,
): string {
  const query = new URLSearchParams(call.query);
  for (const old of dropped) if (old !== undefined) query.delete(old);
  if (name !== undefined && value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? call.path : `${call.path}?${text}`;
}
