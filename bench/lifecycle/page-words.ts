/** What a described list says of its pages: how many rows are asked for, what leads on, and what counts them all. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import type { Told } from './asking.ts';
import type { Described, DescribedOperation, DescribedParameter } from './description.ts';
import { plainName } from './families.ts';
import { typesOf } from './fitting.ts';

/** The ways in which a list can be asked for its next page, as its description says them. */
export interface PageWords {
  readonly size: { readonly name: string; readonly rows: number };
  /** Whether an answer says what leads on, by a text or an address. */
  readonly isTold: boolean;
  readonly page: { readonly name: string; readonly first: number } | undefined;
  readonly offset: string | undefined;
  readonly after: string | undefined;
}

const sizeNames = /^(?:limit|pagesize|perpage|size|maxresults|pagelimit|itemsperpage|top|take|rows|maxitems)$/;
const pageNames = /^(?:page|pagenumber|pageno|pageindex|currentpage)$/;
const offsetNames = /^(?:offset|skip|start|startat|startindex|first)$/;
const afterNames = /^(?:startingafter|after|afterid|sinceid)$/;
const rowsMost = 4;

/** Nothing where it says no size that a few rows fit, or no way on. */
export function pageWordsOf(described: Described, list: DescribedOperation, schema: JsonMap): PageWords | undefined {
  const query = list.parameters.filter(({ place }) => place === 'query');
  const isWhole = ({ schema: own }: DescribedParameter) => typesOf(described.flat(own))[0] === 'integer';
  const counted = (names: RegExp) => query.find((one) => names.test(plainName(one.name)) && isWhole(one));
  const asked = counted(sizeNames);
  const rows = asked && rowsOf(described.flat(asked.schema));
  if (!asked || rows === undefined) return undefined;
  const page = counted(pageNames);
  const words: PageWords = {
    size: { name: asked.name, rows },
    isTold: around(described, schema).some(([name, one]) => isLeading(described, name, one, query)) || isLinked(list),
    page: page && { name: page.name, first: firstPageOf(described.flat(page.schema)) },
    offset: counted(offsetNames)?.name,
    after: query.find((one) => afterNames.test(plainName(one.name)) && isName(described.flat(one.schema)))?.name,
  };
  return words.isTold || words.page || words.offset !== undefined || words.after !== undefined ? words : undefined;
}

/** What may be the name of a thing, and is no time. */
function isName({ type, format }: JsonMap): boolean {
  return type === 'string' && !/date|time/.test(String(format ?? ''));
}

function rowsOf({ minimum, maximum, enum: words }: JsonMap): number | undefined {
  const least = typeof minimum === 'number' ? Math.max(2, minimum) : 2;
  const most = typeof maximum === 'number' ? maximum : rowsMost;
  return Array.isArray(words) || least > Math.min(most, rowsMost) ? undefined : least;
}

function firstPageOf({ default: usual, minimum, description }: JsonMap): number {
  const isFromNought =
    usual === 0 || minimum === 0 || /zero.?(?:based|indexed)|0.?(?:based|indexed)/i.test(`${description ?? ''}`);
  return isFromNought ? 0 : 1;
}

/** Members of an answer beside its rows, with their whole plain names. */
function around(described: Described, schema: Json | undefined, depth = 0): [string, Json][] {
  if (depth > 2) return [];
  return Object.entries(described.membersOf(schema)).flatMap(([name, one]): [string, Json][] => {
    const inner = around(described, one, depth + 1).map(([own, value]): [string, Json] => [`${plainName(name)} ${own}`, value]);
    return [[plainName(name), one], ...inner];
  });
}

function isLeading(described: Described, name: string, schema: Json, query: readonly DescribedParameter[]): boolean {
  const last = name.split(' ').at(-1)!;
  const isText = typesOf(described.flat(schema)).every((type) => type === 'string' || type === 'null');
  if (!isText || !/^next|cursor$|nextlink$/.test(last) || /prev/.test(last)) return false;
  return (
    /ur[il]|link|href|^next$/.test(last) ||
    query.some((one) => /cursor|token|marker|page|after|continu/.test(plainName(one.name)))
  );
}

function isLinked({ answers }: DescribedOperation): boolean {
  return [...answers].some(([status, { headers }]) => /^2/.test(status) && headers.includes('link'));
}

/** What an answer says of all pages together, where it says it: numbers by the kind of what they count. */
export interface SaidOfAll {
  readonly rows: readonly (readonly [string, number])[];
  readonly pages: readonly (readonly [string, number])[];
  /** Whether it says that more follow. */
  readonly more: boolean | undefined;
}

const totals =
  /^(?:total|(?:total(?:count|results|items|entries|records|elements|rows|hits|size|number))|(?:items|results|records)total)$/;
const pageTotals = /^(?:totalpages?|pagecount|lastpage|numpages|pagestotal)$/;

export function saidOfAll({ body, headers }: Told): SaidOfAll {
  const all = leaves(body, 0);
  const numbers = (names: RegExp) =>
    all.flatMap(([name, value]) => (names.test(name) && typeof value === 'number' ? [[name, value] as const] : []));
  const header = Number(headers.get('x-total-count') ?? Number.NaN);
  const flag = all.find(
    ([name, value]) => /^(?:has)?(?:more|next)(?:page|items|results)?$/.test(name) && typeof value === 'boolean',
  );
  return {
    rows: [...numbers(totals), ...(Number.isNaN(header) ? [] : [['X-Total-Count', header] as const])],
    pages: numbers(pageTotals),
    more: typeof flag?.[1] === 'boolean' ? flag[1] : undefined,
  };
}

function leaves(value: Json | undefined, depth: number): [string, Json][] {
  if (!isMap(value) || depth > 2) return [];
  return Object.entries(value).flatMap(([name, one]): [string, Json][] =>
    isMap(one) ? leaves(one, depth + 1) : [[plainName(name), one]],
  );
}
