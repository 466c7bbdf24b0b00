import type { Json } from '../../../document/document.ts';
import type { Value } from '../../exchange/exchange.ts';
import type { PageTold } from '../stand-in.ts';

/** What a member or a header says of a page by a number or a flag; nothing where that is not known. */
export type SayOfPage = (page: PageTold) => Value | undefined;

/**
 * What a member beside rows counts or flags: by its name, without signs and in lower case, else by what is said of it (`sum`: `Total number of items`). What may be a
 * text is a count only by its name.
 */
export function countSaid(plain: string, type: Json | undefined, description: string): SayOfPage | undefined {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null');
  if (types.length !== 1) return undefined;
  if (types[0] === 'boolean') return flags.find(([names]) => names.test(plain))?.[1];
  const isNumber = types[0] === 'integer' || types[0] === 'number';
  if (!isNumber && types[0] !== 'string') return undefined;
  const named = counts.find(([names]) => names.test(plain))?.[1];
  if (named && (isNumber || !/^(?:count|page|limit|pages)$/.test(plain))) return named;
  // Of pages, of bytes and of what else is counted a description says so.
  return isNumber && totalSaid.test(description) && !/\bpages?\b|bytes|price|amount/i.test(description) ? total : undefined;
}

/** What a header of an answer tells of a page, by its name: `X-Total-Count`, `X-Total-Pages`, `X-Next-Cursor`; nothing for any other header. */
export function saidInHeader(name: string): SayOfPage | undefined {
  return headers.find(([names]) => names.test(name))?.[1];
}

const headers: readonly (readonly [RegExp, SayOfPage])[] = [
  [/^(?:x-)?(?:pagination-)?(?:total(?:-?(?:count|items|results|records))?|count|items-count)$/i, (page) => page.total],
  [/^x-(?:pagination-)?(?:total-pages|page-count)$/i, pagesOf],
  [/^x-(?:pagination-)?(?:per-page|page-size)$/i, ({ size, shown }) => size ?? shown],
  [/(?:^|-)(?:next-?cursor|cursor-?next|next-?page-?token|next-?token)$|^x-next-page$/i, ({ next }) => next],
  [/(?:^|-)(?:prev(?:ious)?-?cursor|cursor-?prev(?:ious)?)$|^x-prev-page$/i, ({ previous }) => previous],
];

const total: SayOfPage = (page) => page.total;

const totalSaid =
  /\btotal (?:number|count|sum|amount)?\s*(?:of )?(?:the )?(?:\w+ ){0,3}(?:items|results|records|entries|objects|rows|resources|documents|matches)\b/i;

const flags: readonly (readonly [RegExp, SayOfPage])[] = [
  [/^(?:has(?:more|next)(?:page|items|results|records)?|more|next)$/, ({ hasMore }) => hasMore],
  [/^(?:has)?prev(?:ious)?(?:page)?$/, ({ previous, skipped }) => previous !== null || (skipped ?? 0) > 0],
  [/^(?:done|islast|islastpage|lastpage)$/, ({ hasMore }) => !hasMore],
];

const counts: readonly (readonly [RegExp, SayOfPage])[] = [
  [
    /^total(?:count|results|items|entries|records|rows|elements|hits|set|setsize)?$|^(?:items|results|records|entries)total$/,
    total,
  ],
  [/^(?:count|(?:current)?pageitems|itemsonpage|itemcount|resultsetsize|returned)$/, ({ shown }) => shown],
  [/^(?:perpage|pagesize|limit|itemsperpage|pagelimit)$/, ({ size, shown }) => size ?? shown],
  [/^(?:totalpages|pagecount|pagetotal|pagestotal|lastpage|pages)$/, pagesOf],
  [/^(?:current)?page(?:number)?$/, numberOf],
  [/^(?:offset|skip|skipped|startposition)$/, ({ skipped }) => skipped],
  [/^endposition$/, ({ skipped, shown }) => (skipped === undefined || shown === 0 ? undefined : skipped + shown - 1)],
];

function pagesOf({ total: all, size }: PageTold): number | undefined {
  if (all === undefined) return undefined;
  return size === undefined ? 1 : Math.ceil(all / size);
}

/** The number of a page; nothing where it is told by something else. */
function numberOf({ size, skipped, firstPage }: PageTold): number | undefined {
  if (size === undefined) return firstPage;
  return skipped === undefined ? undefined : Math.floor(skipped / size) + firstPage;
}
