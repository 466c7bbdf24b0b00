/** Lists of which only the shapes are known: how they are narrowed and cut into pages, by the query or by a body. */

import type { Json } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import { inOnePiece, pageStyle, pageStyles } from '../../../kinds/pages/all.ts';
import { type AskedFor, type PageStyle, parametersOf } from '../../../kinds/pages/kind.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { isCut, type Pagination } from '../../../parts/limits.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';
import { compileLinks, pageTold } from '../lists/envelope.ts';
import type { BodyPages, CutOpenly } from '../stand-in.ts';
import { listShown } from './lists-shown.ts';
import { compileNarrowing } from './narrowing.ts';

/**
 * Compiles how a list of which only the shapes are known is narrowed and cut into pages, by the parameters that its endpoint states: what was sent to
 * its path and what belongs to the thing above it are listed so as rows are. Nothing where the answer is no one list.
 */
export function compileOpenPages(endpoint: Endpoint, samples: Samples): CutOpenly | undefined {
  const list = endpoint.method === 'GET' ? listShown(endpoint, samples) : undefined;
  if (!list) return undefined;
  const pagination = paginationOf(endpoint, samples);
  const { style, own, cut } = cutBy(pagination);
  const links = compileLinks(pagination, [], true);
  const members = new Map(Object.entries(samples.membersOf(list.items)));
  const paging = [...own.map(({ name }) => name), ...(pagination.size === undefined ? [] : [pagination.size])];
  const narrow = compileNarrowing(endpoint, { members, identifier: 'id', isAny: false, has: () => false }, paging, samples);
  return (listed, exchange) => {
    const all = list.name === undefined ? listed : isFields(listed) ? listed[list.name] : undefined;
    if (!Array.isArray(all)) return undefined;
    const narrowed = narrow?.(exchange);
    const rows = (all as Value[]).filter((one) => !isFields(one) || !narrowed || narrowed.keeps(one));
    const { order } = narrowed ?? {};
    if (order) rows.sort((one, other) => (isFields(one) && isFields(other) ? order(one, other) : 0));
    const { items, size, skipped } = cut(rows, exchange);
    const hasMore = skipped + size < rows.length;
    const told = {
      items: '',
      hasMore,
      next: hasMore ? valueAt(style, skipped + size, size, rows) : null,
      previous: skipped > 0 ? valueAt(style, Math.max(0, skipped - size), size, rows) : null,
      total: rows.length,
      size,
      isCut: size < all.length || pagination.size !== undefined,
      skipped,
      firstPage: style.count?.following(0, 2) === 1 ? style.count.least : 1,
      isInDoubt: false,
    };
    return {
      value: list.name === undefined ? items : { ...(listed as Fields), [list.name]: items },
      page: pageTold(told, items.length, exchange.call, links),
    };
  };
}

/** Compiles how things of which nothing is described are cut into pages, by the parameters that an endpoint states. */
export function compilePlainCut(endpoint: Endpoint, samples: Samples): (rows: readonly Value[], exchange: Exchange) => Value[] {
  const { cut } = cutBy(paginationOf(endpoint, samples));
  return (rows, exchange) => cut(rows, exchange).items;
}

function cutBy(pagination: Pagination) {
  const style = pageStyle(pagination.style);
  const own = parametersOf(style, pagination);
  const cut = (rows: readonly Value[], exchange: Exchange) => {
    const size = sizeOf(pagination, exchange) ?? rows.length;
    const skipped = placeOf(style, own[0]?.name, rows, size, exchange);
    return { items: rows.slice(skipped, skipped + size), size, skipped };
  };
  return { style, own, cut };
}

/** The style of pages that the parameters of an endpoint speak of, with their names. */
function paginationOf(endpoint: Endpoint, samples: Samples): Pagination {
  const queries = entriesOf(endpoint.parameters).flatMap(([, one]) =>
    one.in === 'query' ? [{ name: one.name, shape: statedValue(one.shape) ?? {}, usual: one.default?.value }] : [],
  );
  return paginationAsked(queries, samples);
}

/** What a request says under a name, with what stands for it where it is not sent. */
interface AskedMember {
  readonly name: string;
  readonly shape: Shape;
  readonly usual?: Json | undefined;
}

/** The style of pages that these members of a request speak of, with their names; in one piece where they speak of none. */
function paginationAsked(asked: readonly AskedMember[], samples: Samples): Pagination {
  const named = (names: ReadonlySet<string>) => asked.find(({ name }) => names.has(plainName(name)));
  const shapeOf = (name: string): Shape => samples.whole(asked.find((one) => one.name === name)?.shape ?? {});
  const told: AskedFor = {
    named: (word) => named(usualNames.get(word) ?? new Set())?.name,
    hasNext: false,
    leads: () => undefined,
    takesOpaque: (name) => shapeOf(name).pattern === undefined,
    takesText: (name) => shapeOf(name).type === 'string',
    startsAtNought: (name) => shapeOf(name).default === 0 || shapeOf(name).minimum === 0,
    startsAtOne: (name) => shapeOf(name).default === 1 || shapeOf(name).minimum === 1,
    counts: (names) => {
      const own = asked.find(({ name }) => names.includes(plainName(name)) && shapeOf(name).type === 'integer')?.name;
      return asked.some(({ name }) => name !== own && sizes.has(plainName(name))) ? own : undefined;
    },
  };
  const size = named(sizes);
  const whole = size && samples.whole(size.shape);
  const usual = [size?.usual, whole?.default].find((one) => typeof one === 'number' && one >= 1);
  const usualSize = typeof usual === 'number' ? { default: usual } : {};
  for (const { word, recognise } of pageStyles) {
    const names = (recognise as PageStyle['recognise'])(told);
    if (names !== undefined && word !== inOnePiece.word)
      return { ...unsaid, style: word, names, ...(size && { size: size.name }), ...usualSize };
  }
  // Where nothing asks for a page but its size, what leads on is told by a word of our own.
  const word = byToken?.parameters[0]?.word;
  if (!size || !byToken || word === undefined) return { ...unsaid, ...(size && { size: size.name }) };
  return { ...unsaid, style: byToken.word as Pagination['style'], names: { [word]: word }, size: size.name, ...usualSize };
}

const byToken = (pageStyles as readonly PageStyle[]).find(({ tells }) => tells === 'token');

const unsaid: Pagination = {
  at: '',
  style: inOnePiece.word,
  names: {},
  isToldInBody: true,
  isToldInLink: false,
  data: Object.create(null),
};

const sizes: ReadonlySet<string> = new Set(['limit', 'pagesize', 'perpage', 'maxresults', 'maxrecords']);

const usualNames: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  (pageStyles as readonly PageStyle[]).flatMap(({ parameters }) => parameters.map((one) => [one.word, new Set(one.usualNames)])),
);

/** How many rows a page has: as many as are asked for, or are usual; nothing where neither is said. */
function sizeOf({ size, default: usual }: Pagination, { params }: Exchange): number | undefined {
  const given = size === undefined ? undefined : params[size];
  const sent = isName(given) ? Number(given) : Number.NaN;
  return Number.isInteger(sent) && sent >= 1 ? sent : usual;
}

/** How many rows stand before the page that is asked for. */
function placeOf(
  { tells, count, isFirst }: PageStyle,
  name: string | undefined,
  rows: readonly Value[],
  size: number,
  exchange: Exchange,
): number {
  const { params, call } = exchange;
  const sent = name === undefined ? undefined : (params[name] ?? new URLSearchParams(call.query).get(name) ?? undefined);
  if (!isName(sent)) return 0;
  if (count) {
    const value = Number(sent);
    return Number.isInteger(value) && value >= count.least ? Math.min(count.skip(value, size), rows.length) : 0;
  }
  if (tells === 'token') {
    const at = /^rows-(\d{1,9})$/.exec(Buffer.from(String(sent), 'base64url').toString('latin1'))?.[1];
    if (at !== undefined) return Math.min(Number(at), rows.length);
  }
  const at = rows.findIndex((one) => nameOf(one) === String(sent));
  return at < 0 ? 0 : isFirst ? at : at + 1;
}

/** What asks for the page before which so many rows stand. */
function valueAt({ tells, count, isFirst }: PageStyle, skipped: number, size: number, rows: readonly Value[]) {
  if (count) return count.valueAt(skipped, size);
  if (tells === 'token') return Buffer.from(`rows-${skipped}`).toString('base64url');
  return tells === 'identifier' ? (nameOf(rows[isFirst ? skipped : skipped - 1]) ?? null) : null;
}

/** What a thing is told by, where nobody says what that is. */
function nameOf(row: Value): string | undefined {
  const value = isFields(row)
    ? ['id', '_id', 'gid', 'uid', 'uuid', 'key', 'name'].map((name) => row[name]).find(isName)
    : undefined;
  return value === undefined ? undefined : String(value);
}

function isName(value: Value): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/**
 * Compiles how a list that is asked for by POST is cut into pages by members of its body, at its top or in the one map that is about pages: `{ limit, cursor }`,
 * `{ pagination: { per_page, starting_after } }`. Nothing where no member says so.
 */
export function compileBodyPages(endpoint: Endpoint, samples: Samples): BodyPages | undefined {
  const shape = endpoint.method === 'POST' ? statedValue(endpoint.request) : undefined;
  if (shape === undefined) return undefined;
  const own = membersOf(shape, samples);
  const around = own.filter(({ name, shape: inner }) => aboutPages.test(name) && membersOf(inner, samples).length > 0);
  const inside = around.flatMap(({ shape: inner }) => membersOf(inner, samples));
  const pagination = paginationAsked([...own, ...inside.filter(({ name }) => !own.some((one) => one.name === name))], samples);
  if (!isCut(pagination)) return undefined;
  const holders = around.map(({ name }) => name);
  return {
    // What is too much is as much as there may be.
    pagination: { ...pagination, overMax: 'clamp' },
    holders,
    sent({ request }) {
      if (!isFields(request)) return {};
      const maps = holders.map((name) => request[name]).filter(isFields);
      const sent: Record<string, Value> = Object.assign({}, ...maps, request);
      // Clients write null, or an empty text, for what they do not say.
      return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null && value !== ''));
    },
  };
}

const aboutPages = /^(?:pagination|paging|pages?|pager|options)$/i;

function membersOf(shape: Shape, samples: Samples): readonly AskedMember[] {
  return Object.entries(samples.membersOf(shape)).flatMap(([name, inner]) => (isPlainMap(inner) ? [{ name, shape: inner }] : []));
}
