import type { Json } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { pageStyles } from '../../../kinds/pages/all.ts';
import type { PageStyle } from '../../../kinds/pages/kind.ts';
import type { InferenceContext } from './context.ts';
import type { ListOf } from './rows.ts';
import type { ShapeProperties, Written } from './shapes.ts';

/** The words of pagination that the members of an answer stand for; `inside` = those which stand in a map of it, as `links.next` does. */
export interface PageWords {
  readonly own: OpenMap;
  readonly inside: ReadonlySet<string>;
}

/** What the members of an answer tell of pages, by their names. */
export function pageWordsOf({ written }: InferenceContext, { all }: ShapeProperties, list: ListOf): PageWords {
  const own = wordsIn(Object.keys(all));
  if (list.outer === undefined && list.property !== undefined) own.items = list.property;
  const inside = new Set<string>();
  for (const [name, shape] of Object.entries(all)) {
    if (!around.test(plainName(name))) continue;
    for (const word of Object.keys(wordsIn(Object.keys(membersAround(written, shape)?.all ?? {})))) inside.add(word);
  }
  return { own, inside };
}

/** The members of a map that tells of pages; of one that comes in several forms (`{ next, last }` or `{ first, prev }`), those of all of them. */
function membersAround(written: Written, shape: Json): ShapeProperties | undefined {
  const own = written.propertiesOf(shape);
  if (own !== undefined) return own;
  const forms = (written.alternativesOf(shape) ?? []).flatMap((one) => written.propertiesOf(one) ?? []);
  return forms.length === 0 ? undefined : { all: Object.assign(newMap(), ...forms.map(({ all }) => all)), required: [] };
}

/** The maps beside a list that tell of its pages. */
const around = /^(?:links|meta|metadata|pages?|paging|(?:token)?pagination|pageinfo|cursors?|responsemetadata)$/;

/** How pages are asked for where no parameter says so, and the answer names what leads to the next: `pages: { page, per_page, next: { starting_after } }`. */
export function pageStyleTold({ written }: InferenceContext, { all }: ShapeProperties): OpenMap | undefined {
  for (const [name, shape] of Object.entries(all)) {
    const members = around.test(plainName(name)) ? written.propertiesOf(shape)?.all : undefined;
    if (members === undefined) continue;
    const [led, next] = Object.entries(members).find(([key]) => wordsIn([key]).next !== undefined) ?? [];
    // What leads on is no name of what asks for it.
    const beside = Object.keys(members).filter((key) => key !== led);
    const named = [...Object.keys(written.propertiesOf(next)?.all ?? {}), ...beside];
    const find = (known: ReadonlySet<string>) => named.find((one) => known.has(plainName(one)));
    const size = find(sizes);
    for (const { word, parameters } of pageStyles as readonly PageStyle[]) {
      const [first] = parameters;
      const own = first && find(new Set(first.usualNames));
      if (first && own !== undefined && size !== undefined)
        return Object.assign(newMap(), { style: word, [first.word]: own, size });
    }
  }
  return undefined;
}

/** Whether an answer leads on by an address, among its links or by a name that says so: `links: { self, next }`, `odata.nextLink`, `next_url`. */
export function leadsByLink({ written }: InferenceContext, { all }: ShapeProperties): boolean {
  return Object.entries(all).some(([name, shape]) => {
    if (/^(?:odata)?next\w*(?:link|ur[il]|href)$/.test(plainName(name))) return written.typeOf(shape) === 'string';
    const { next } = (/^_?links$/i.test(name) ? written.propertiesOf(shape)?.all : undefined) ?? {};
    return next !== undefined && (written.typeOf(next) === 'string' || written.propertiesOf(next)?.all.href !== undefined);
  });
}

const sizes: ReadonlySet<string> = new Set(['perpage', 'pagesize']);

function wordsIn(names: readonly string[]): OpenMap {
  const words: OpenMap = newMap();
  for (const [word, known] of envelope) {
    const name = names.find((one) => known.has(plainName(one)));
    if (name !== undefined) words[word] = name;
  }
  return words;
}

const envelope: readonly (readonly [string, ReadonlySet<string>])[] = [
  [
    'next',
    new Set([
      ...['nextcursor', 'nextmarker', 'nextpagetoken', 'nexttoken', 'iterator', 'endcursor', 'nextpage', 'next', 'nexturl'],
      ...['nextpageurl', 'nextpageuri', 'nexturi', 'nextlink', 'odatanextlink', 'continue', 'nextpageoffset'],
    ]),
  ],
  [
    'previous',
    new Set([
      ...['previouscursor', 'prevcursor', 'previousmarker', 'previous', 'prev', 'previousurl', 'prevpage', 'previterator'],
      'previouspage',
    ]),
  ],
  ['has_more', new Set(['hasmore', 'hasnext', 'hasnextpage'])],
  ['total', new Set(['total', 'totalcount', 'totalresults', 'totalitems', 'totalentries'])],
];

/** What is known of a list when the members around it are made: the words of its answer, and how its pages are asked for. */
export interface ListSaid {
  readonly list: ListOf;
  readonly words: PageWords;
  readonly tells: PageStyle['tells'];
  /** The parameters by which a page is asked for, and the one for its size, with the size that is usual. */
  readonly parameters: readonly string[];
  readonly page: string | undefined;
  readonly size: string | undefined;
  readonly usualSize: number;
}

/** What makes each member of the answer of a list; nothing where one that it must carry cannot be made. */
export function dataOfList(context: InferenceContext, { all, required }: ShapeProperties, said: ListSaid): OpenMap | undefined {
  const data: OpenMap = newMap();
  for (const [name, shape] of Object.entries(all)) {
    const expression =
      memberOf(context, name, shape, said, all) ?? (required.includes(name) ? shownWord(context, shape) : undefined);
    if (expression !== undefined) data[name] = expression;
    else if (required.includes(name)) return undefined;
  }
  return data;
}

function memberOf(
  context: InferenceContext,
  name: string,
  shape: Json,
  said: ListSaid,
  all: ShapeProperties['all'],
): string | undefined {
  const { list, words } = said;
  if (list.outer === undefined && name === list.property) return 'items';
  if (name === list.outer) return `{${quoted(list.property ?? '')}: items}`;
  const { written } = context;
  const constant = written.constantOf(shape);
  if (constant !== undefined) return celOf(constant.value);
  const inner = around.test(plainName(name)) ? membersAround(written, shape) : written.propertiesOf(shape);
  if (inner !== undefined) return wayOn(context, name, shape, said) ?? mapOf(context, name, inner, said);
  if (name === words.own.next || name === words.own.previous) {
    return name === words.own.next ? nextOf(context, shape, isAddress(context, name, shape), said) : undefined;
  }
  return countOf(context, name, shape, said, all) ?? textOf(context, name, shape, said);
}

/** `next: { page: … }`: the way to the next page is a map, and is not there on the last. */
function wayOn(context: InferenceContext, name: string, shape: Json, said: ListSaid): string | undefined {
  const next = name === said.words.own.next ? nextOf(context, shape, isAddress(context, name, shape), said) : undefined;
  return next === undefined ? undefined : `has_more ? ${next} : null`;
}

/** A map that tells of pages: what of it can be said, and the way to the next page only where there is one. */
function mapOf(context: InferenceContext, name: string, { all }: ShapeProperties, said: ListSaid): string | undefined {
  const { written } = context;
  const words = wordsIn(Object.keys(all));
  const isLinks = /^_?links$/i.test(name);
  if (!around.test(plainName(name)) && words.next === undefined) return undefined;
  const always: string[] = [];
  const next: string[] = [];
  for (const [key, shape] of Object.entries(all)) {
    const constant = written.constantOf(shape);
    if (key === words.next) {
      const expression = nextOf(context, shape, isLinks || isAddress(context, key, shape), said);
      if (expression !== undefined) next.push(`${quoted(key)}: ${expression}`);
      continue;
    }
    const inner = around.test(plainName(key)) ? membersAround(written, shape) : undefined;
    const expression =
      inner !== undefined
        ? mapOf(context, key, inner, said)
        : constant === undefined
          ? isLinks && plainName(key) === 'self'
            ? addressOf(context, shape, 'path')
            : countOf(context, key, shape, said, all)
          : celOf(constant.value);
    if (expression !== undefined) always.push(`${quoted(key)}: ${expression}`);
  }
  const least = `{${always.join(', ')}}`;
  if (next.length === 0) return always.length === 0 ? undefined : least;
  return `has_more ? {${[...always, ...next].join(', ')}} : ${lastOf(context, all, words, always)}`;
}

/** The last page says null where the way to the next may be null, and an empty text where it has to be one. */
function lastOf(
  { written }: InferenceContext,
  all: ShapeProperties['all'],
  { next }: OpenMap,
  always: readonly string[],
): string {
  const shape = typeof next === 'string' ? all[next] : undefined;
  const isNullable = shape !== undefined && written.admitsNull(shape);
  return `{${[...always, ...(isNullable ? [`${quoted(String(next))}: null`] : [])].join(', ')}}`;
}

/** What leads to the next page: its address, what the parameter takes, or a map that holds either. */
function nextOf(context: InferenceContext, shape: Json, isLink: boolean, said: ListSaid): string | undefined {
  const { written } = context;
  if (said.tells === 'nothing') return undefined;
  const type = written.typeOf(shape);
  if (isLink || written.propertiesOf(shape)?.all.href !== undefined) return addressOf(context, shape, 'next_url');
  if (type === 'string') return 'next_cursor';
  if (type === 'integer' && said.tells === 'count') return 'int(next_cursor)';
  const inner = Object.keys(written.propertiesOf(shape)?.all ?? {});
  const name = inner.find((one) => said.parameters.includes(one)) ?? inner.find((one) => /^(?:next_?)?cursor$/i.test(one));
  if (name !== undefined) return `{${quoted(name)}: next_cursor}`;
  // What is said of no type is passed on as it is.
  return type === undefined && inner.length === 0 ? 'next_cursor' : undefined;
}

/** An address as it is, or in the map of a link. */
function addressOf({ written }: InferenceContext, shape: Json, expression: string): string | undefined {
  if (written.propertiesOf(shape)?.all.href !== undefined) return `{'href': ${expression}}`;
  return written.typeOf(shape) === 'string' ? expression : undefined;
}

function isAddress({ written }: InferenceContext, name: string, shape: Json): boolean {
  const { format, example, description } = written.expand(shape);
  return (
    /(?:url|uri|link|href)$/i.test(name) ||
    addressSaid.test(String(description ?? '')) ||
    format === 'uri' ||
    format === 'url' ||
    /^https?:|^\//.test(String(example ?? ''))
  );
}

/** `The URL of the next page of results, if any.` */
const addressSaid = /^(?:the |an? )?(?:full |complete |absolute |relative )?(?:ur[il]|link|href)\b/i;

/** What counts rows and pages. */
function countOf(
  { written }: InferenceContext,
  name: string,
  shape: Json,
  said: ListSaid,
  all: ShapeProperties['all'],
): string | undefined {
  const type = written.typeOf(shape);
  const { own } = said.words;
  const plain = plainName(name);
  if (type === 'boolean') {
    if (envelope[2]?.[1].has(plain)) return 'has_more';
    return plain === 'done' && own.next !== undefined ? '!has_more' : undefined;
  }
  if (type !== 'integer' && type !== 'number') return undefined;
  const number = (expression: string) => (type === 'integer' ? expression : `double(${expression})`);
  const size = said.size === undefined ? 'size(items)' : sentOr(said.size, said.usualSize);
  // What is called `results` is a list elsewhere; a number of that name counts all of them.
  if (envelope[3]?.[1].has(plain) || plain === 'results') return number('total');
  if (plain === 'count') return number(countsAll(all) ? 'total' : 'size(items)');
  if (said.tells !== 'count' || said.size === undefined) return undefined;
  if (perPage.has(plain)) return number(size);
  if (pageCounts.has(plain)) return number(`(total + ${size} - 1) / ${size}`);
  return pageNumbers.test(plain) && said.page !== undefined ? number(sentOr(said.page, 1)) : undefined;
}

/**
 * Whether `count` is of all pages: beside what leads both ways, and no other total, it is. Of 967 descriptions those of 8 makers have these three, which frameworks write so;
 * the one that says what it counts says the total.
 */
function countsAll(all: ShapeProperties['all']): boolean {
  const { next, previous, total } = wordsIn(Object.keys(all));
  return next !== undefined && previous !== undefined && total === undefined;
}

/** What a parameter says, or what it stands for where it is not sent; `page[size]` is no word of an expression. */
function sentOr(name: string, usual: number): string {
  const isWord = /^[A-Za-z_]\w*$/.test(name);
  const [isSent, sent] = isWord
    ? [`has(params.${name})`, `params.${name}`]
    : [`${quoted(name)} in params`, `params[${quoted(name)}]`];
  return `(${isSent} ? ${sent} : ${usual})`;
}

const perPage: ReadonlySet<string> = new Set(['perpage', 'pagesize', 'limit']);
const pageCounts: ReadonlySet<string> = new Set(['totalpages', 'pagecount', 'lastpage', 'pages']);
const pageNumbers = /^(?:current)?page(?:number)?$/;

function textOf({ written }: InferenceContext, name: string, shape: Json, said: ListSaid): string | undefined {
  if (written.typeOf(shape) !== 'string') return undefined;
  if (name === 'url' || name === 'uri') return 'path';
  return name === 'object' && said.list.property !== undefined ? "'list'" : undefined;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** What the example of a plain member shows, where nothing is known of it but that it is always there: `code: 0`, `status: "success"`. */
export function shownWord({ written }: InferenceContext, shape: Json): string | undefined {
  const { example, type } = written.expand(shape);
  const isOfType = type === 'integer' ? Number.isInteger(example) : type === typeof example;
  return isOfType && example !== undefined ? celOf(example) : undefined;
}

/** A value as CEL writes it. */
export function celOf(value: Json): string | undefined {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : undefined;
}
