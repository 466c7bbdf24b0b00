/** What header fields of an answer say of its page. */

import type { Answer } from '../../../parts/answers.ts';
import type { TellPageHeaders } from '../stand-in.ts';
import { pagesInAll, type SayOfPage } from './page-members.ts';

/** Compiles the header fields of an answer that tell how many rows there are (`X-Total-Count`) and what leads on (`Link`, RFC 8288), where it states them. */
export function compilePageHeaders({
  headers,
  headerShapes,
}: Pick<Answer, 'headerShapes' | 'headers'>): TellPageHeaders | undefined {
  const stated = Object.keys(headerShapes).filter((name) => !Object.hasOwn(headers, name));
  const counts = stated.flatMap((name) => {
    const say = saidInHeader(name);
    return say ? [{ name: name.toLowerCase(), say }] : [];
  });
  const isLinked = stated.some((name) => /^link$/i.test(name));
  if (counts.length === 0 && !isLinked) return undefined;
  return (page) => {
    const out: Record<string, string> = {};
    for (const { name, say } of counts) {
      const value = say(page);
      if (typeof value === 'number' || typeof value === 'string') out[name] = String(value);
    }
    if (page.link !== undefined) return out;
    const links = [
      ['next', page.nextUrl],
      ['prev', page.previousUrl],
    ] as const;
    const told = links.flatMap(([rel, url]) => (url === null ? [] : [`<${url}>; rel="${rel}"`]));
    if (isLinked && told.length > 0) out.link = told.join(', ');
    return out;
  };
}

/** What a header of an answer tells of a page, by its name: `X-Total-Count`, `X-Total-Pages`, `X-Next-Cursor`; nothing for any other header. */
function saidInHeader(name: string): SayOfPage | undefined {
  return headers.find(([names]) => names.test(name))?.[1];
}

const headers: readonly (readonly [RegExp, SayOfPage])[] = [
  [/^(?:x-)?(?:pagination-)?(?:total(?:-?(?:count|items|results|records))?|count|items-count)$/i, (page) => page.total],
  [/^x-(?:pagination-)?(?:total-pages|page-count)$/i, pagesInAll],
  [/^x-(?:pagination-)?(?:per-page|page-size)$/i, ({ size, shown }) => size ?? shown],
  [/(?:^|-)(?:next-?cursor|cursor-?next|next-?page-?token|next-?token)$|^x-next-page$/i, ({ next }) => next],
  [/(?:^|-)(?:prev(?:ious)?-?cursor|cursor-?prev(?:ious)?)$|^x-prev-page$/i, ({ previous }) => previous],
];
