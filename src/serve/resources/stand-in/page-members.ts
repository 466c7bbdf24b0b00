/** What members of an answer say of its page. */

import type { Json } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import { pageStyles } from '../../../kinds/pages/all.ts';
import type { PageStyle } from '../../../kinds/pages/kind.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import type { Call } from '../../http/call.ts';
import { isFields } from '../body.ts';
import { addressAsked } from '../lists/envelope.ts';
import type { PageTold } from '../stand-in.ts';

/** Says in an answer, in place, what its shape has a member for and nothing said yet: how many rows there are, which page it is, what leads on. */
type TellPage = (whole: Value, page: PageTold | undefined, call: Call) => Value;

/**
 * Compiles what stands around the rows of a page, by the names of its members: `total`, `meta.paging.limit`, `links.next.href`. On the last page nothing
 * leads on: such a member is null, or an empty text where it has to be one, or is left out.
 */
export function compilePageMembers(shape: Shape, samples: Samples): TellPage {
  const members = membersIn(shape, samples, { depth: 0, isLinks: false, isOfPages: false });
  const nameSelf = compileSelf(shape, samples);
  return (whole, page, call) => {
    if (page && isFields(whole)) for (const tell of members) tell(whole, page);
    else if (call.method === 'GET' && isFields(whole)) nameSelf?.(whole, call);
    return whole;
  };
}

/** Compiles the address of an answer that is no page, where it says its own: `links: { self }`. */
function compileSelf(shape: Shape, samples: Samples): ((whole: Fields, call: Call) => void) | undefined {
  const { links } = samples.membersOf(shape);
  const self = isPlainMap(links) ? samples.membersOf(links).self : undefined;
  if (!isPlainMap(self)) return undefined;
  const isMap = Object.hasOwn(samples.membersOf(self), 'href');
  const { fits } = samples.of(self, 'self');
  return (whole, call) => {
    const own = whole.links ?? {};
    const said: Value = isMap ? { href: addressAsked(call) } : addressAsked(call);
    if (isFields(own) && own.self === undefined && fits(said as Json)) whole.links = { ...own, self: said };
  };
}

/** Says one member of a map. */
type TellMember = (holder: Fields, page: PageTold) => void;

interface Place {
  readonly depth: number;
  /** Whether what leads on here is an address. */
  readonly isLinks: boolean;
  /** Whether all that stands here is about pages. */
  readonly isOfPages: boolean;
}

const depthMost = 3;

function membersIn(shape: Shape, samples: Samples, place: Place): readonly TellMember[] {
  const { required } = samples.whole(shape);
  const members = samples.membersOf(shape);
  const names = new Set(Object.keys(members).map(plainName));
  // Beside what leads both ways and no total, what counts is the total: so generators of pages write it.
  const isTotal = names.has('next') && names.has('previous') && ![...names].some((one) => totalWords.test(one));
  return Object.entries(members).flatMap(([name, inner]) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    const tell = isPlainMap(inner)
      ? isTotal && plainName(name) === 'count' && isWhole(inner, samples)
        ? member(name, inner, samples, isRequired, total)
        : memberOf(name, inner, isRequired, samples, place)
      : undefined;
    return tell ? [tell] : [];
  });
}

function memberOf(name: string, shape: Shape, isRequired: boolean, samples: Samples, place: Place): TellMember | undefined {
  const plain = plainName(name);
  const inner = samples.membersOf(shape);
  const link = Object.keys(inner).find((one) => /^(?:href|ur[il]|link)$/i.test(one));
  const way = wayOf(plain, shape, place, samples);
  if (way && link !== undefined) return member(name, shape, samples, isRequired, (page) => linkOf(link, way(page, true)));
  if (way && Object.keys(inner).length === 0)
    return member(name, shape, samples, isRequired, (page) => way(page, false), [null, '', [], 0]);
  const rel = relatedLinks(plain, shape, samples);
  if (rel) return member(name, shape, samples, isRequired, rel);
  if (Object.keys(inner).length > 0) {
    if (around.test(plain) || countsPages(inner)) return mapOf(name, shape, samples, place);
    return place.depth === 0 && isHolding(inner) ? mapOf(name, shape, samples, place, holdsRows) : undefined;
  }
  const { type, description } = samples.whole(shape);
  const isNumber = place.isOfPages && plain === 'current' && isWhole(shape, samples);
  const count = isNumber ? numberOf : countSaid(plain, type, typeof description === 'string' ? description : '');
  return count && member(name, shape, samples, isRequired, count);
}

/** The maps beside a list that tell of its pages. */
const around = /^(?:links|meta|metadata|pages?|paging|(?:token)?pagination|pageinfo|cursors?|responsemetadata)$/;

/** Those of them that tell of nothing else. */
const ofPages = /^(?:pages?|paging|pagination|pageinfo)$/;

function isWhole(shape: Shape, samples: Samples): boolean {
  const { type } = samples.whole(shape);
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null');
  return types.length === 1 && (types[0] === 'integer' || types[0] === 'number');
}

/** `range: { offset, limit, total }`: a map without rows that says how many there are and how they are cut is about pages, whatever it is called. */
function countsPages(inner: Readonly<Record<string, Json>>): boolean {
  const names = isHolding(inner) ? '' : Object.keys(inner).map(plainName).join(' ');
  return [totalWords, cutWords].every((words) => words.test(names));
}

const totalWords = /\btotal(?:count|results|items|entries|records|rows|elements)?\b/;
const cutWords = /\b(?:perpage|pagesize|limit|offset|skip|(?:current)?page|pagenumber|totalpages)\b/;

/** `{ data: { items: […], total: 9 } }`: a map with the one list of an answer, beside which its counts stand. */
function isHolding(inner: Readonly<Record<string, Json>>): boolean {
  return Object.values(inner).filter((one) => isPlainMap(one) && isPlainMap(one.items)).length === 1;
}

const holdsRows = (own: Value | undefined): boolean => isFields(own) && Object.values(own).some((one) => Array.isArray(one));

function mapOf(
  name: string,
  shape: Shape,
  samples: Samples,
  place: Place,
  isMeant: (own: Value | undefined) => boolean = () => true,
): TellMember | undefined {
  if (place.depth >= depthMost) return undefined;
  const plain = plainName(name);
  const told = membersIn(shape, samples, {
    depth: place.depth + 1,
    isLinks: place.isLinks || plain === 'links',
    isOfPages: place.isOfPages || ofPages.test(plain),
  });
  if (told.length === 0) return undefined;
  return (holder, page) => {
    const own = holder[name];
    if ((own !== undefined && !isFields(own)) || !isMeant(own)) return;
    const map: Fields = own ?? {};
    for (const tell of told) tell(map, page);
    if (Object.keys(map).length > 0) holder[name] = map;
  };
}

/** A member that nobody has said yet; what is null and may not be is an empty text or list where it is required, or nought where it leads to a page by a number, else left out. */
function member(
  name: string,
  shape: Shape,
  samples: Samples,
  isRequired: boolean,
  say: (page: PageTold) => Value | undefined,
  none: readonly Value[] = [null, '', []],
): TellMember {
  const { fits } = samples.of(shape, name);
  const empty: Value = fits(null) ? null : isRequired ? none.find((one) => fits(one as Json)) : undefined;
  return (holder, page) => {
    if (holder[name] !== undefined) return;
    const value = say(page) ?? null;
    const told = [value, typeof value === 'number' ? String(value) : null].find((one) => one !== null && fits(one as Json));
    if (told !== undefined) holder[name] = told;
    else if (value === null && empty !== undefined) holder[name] = empty;
  };
}

type Way = (page: PageTold, isLink: boolean) => string | number | null;

/** What leads to another page, or says where this one is; nothing where a member is called otherwise. */
function wayOf(plain: string, shape: Shape, { isLinks }: Place, samples: Samples): Way | undefined {
  const { type } = samples.whole(shape);
  const isAddress = isLinks || isAddressed(plain, shape, samples);
  if (ways.next.has(plain)) {
    if (isBoolean(type)) return undefined;
    const isNumber = plain === 'nextpage';
    return (page, isLink) => (isLink || isAddress ? page.nextUrl : (page.next ?? (isNumber ? numberAfter(page) : null)));
  }
  if (ways.previous.has(plain)) {
    if (isBoolean(type)) return undefined;
    return ({ previous, previousUrl }, isLink) => (isLink || isAddress ? previousUrl : previous);
  }
  return isLinks && /^(?:self|current)$/.test(plain) ? ({ url }) => url : undefined;
}

/** Whether a type is that of a flag, which says that a page follows and not which. */
function isBoolean(type: Json | undefined): boolean {
  return type === 'boolean' || (Array.isArray(type) && type.includes('boolean'));
}

/** A token without a word of its own is that of the next page. */
const tokenWords = (pageStyles as readonly PageStyle[]).flatMap(({ tells, word }) => (tells === 'token' ? [word] : []));

const ways = {
  next: new Set([
    ...tokenWords,
    ...['nextcursor', 'nextmarker', 'nextpagetoken', 'nexttoken', 'endcursor', 'nextpage', 'next', 'nexturl', 'nextpageurl'],
    ...['nextpageuri', 'nexturi', 'nextlink', 'odatanextlink'],
  ]),
  previous: new Set([
    ...['previouscursor', 'prevcursor', 'previousmarker', 'prevmarker', 'previous', 'prev', 'previousurl', 'prevurl', 'prevpage'],
    ...['previouspage', 'previousuri', 'previouslink'],
  ]),
};

function isAddressed(plain: string, shape: Shape, samples: Samples): boolean {
  const { format, example } = samples.whole(shape);
  const says = (value: Json | undefined, words: RegExp) => typeof value === 'string' && words.test(value);
  return /(?:ur[il]|link|href)$/.test(plain) || says(format, /^ur[il]/) || says(example, /^https?:|^\//);
}

function linkOf(member: string, address: string | number | null): Value | undefined {
  return address === null ? undefined : { [member]: address };
}

/** `links: [{ rel, href }]`: those of this page, and of the pages around it where there are any. */
function relatedLinks(plain: string, shape: Shape, samples: Samples): ((page: PageTold) => Value) | undefined {
  const { items } = samples.whole(shape);
  if (plain !== 'links' || !isPlainMap(items)) return undefined;
  const members = samples.membersOf(items);
  const address = ['href', 'uri', 'url'].find((one) => Object.hasOwn(members, one));
  if (address === undefined || !Object.hasOwn(members, 'rel')) return undefined;
  return ({ url, nextUrl, previousUrl }) => {
    const all: readonly (readonly [string, string | null])[] = [
      ['self', url],
      ['next', nextUrl],
      ['previous', previousUrl],
    ];
    return all.flatMap(([rel, at]) => (at === null ? [] : [{ rel, [address]: at }]));
  };
}

/** What a member or a header says of a page by a number or a flag; nothing where that is not known. */
export type SayOfPage = (page: PageTold) => Value | undefined;

/**
 * What a member beside rows counts or flags: by its name, without signs and in lower case, else by what is said of it (`sum`: `Total number of items`). What may be a
 * text is a count only by its name.
 */
function countSaid(plain: string, type: Json | undefined, description: string): SayOfPage | undefined {
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
  [/^(?:totalpages|pagecount|pagetotal|pagestotal|lastpage|pages)$/, pagesInAll],
  [/^(?:current)?page(?:number)?$/, numberOf],
  [/^(?:offset|skip|skipped|startposition)$/, ({ skipped }) => skipped],
  [/^endposition$/, ({ skipped, shown }) => (skipped === undefined || shown === 0 ? undefined : skipped + shown - 1)],
];

/** How many pages there are; nothing where nobody counted the rows. */
export function pagesInAll({ total: all, size }: PageTold): number | undefined {
  if (all === undefined) return undefined;
  return size === undefined ? 1 : Math.ceil(all / size);
}

/** The number of the page behind this one, where pages have numbers though nothing says by what they are asked for. */
function numberAfter(page: PageTold): number | null {
  const own = page.hasMore ? numberOf(page) : undefined;
  return own === undefined ? null : own + 1;
}

/** The number of a page; nothing where it is told by something else. */
function numberOf({ size, skipped, firstPage }: PageTold): number | undefined {
  if (size === undefined) return firstPage;
  return skipped === undefined ? undefined : Math.floor(skipped / size) + firstPage;
}
