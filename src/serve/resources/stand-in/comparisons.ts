/** How rows are compared with what a query asks, and with each other. */

import type { Fields, Value } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';

/** How what a row has at a place is compared with what was sent. */
export interface FilterComparison {
  /** Whether a text with commas is several. */
  readonly takesSeveral: boolean;
  holds(held: readonly string[], operands: readonly string[]): boolean;
}

/** The comparison that a word stands for in the queries of vendors: `gte`, `contains`, `after`; nothing where it stands for none. */
export function compileComparison(word: string): FilterComparison | undefined {
  return comparisons.get(word.replace(/^[$+_](?=\w)/, '').toLowerCase());
}

const each = (names: string, comparison: FilterComparison): [string, FilterComparison][] =>
  names.split(' ').map((name) => [name, comparison]);

/** What is not there is false. */
const isOneOf = (held: readonly string[], operands: readonly string[]) =>
  operands.some((one) => held.includes(one) || (held.length === 0 && one === 'false'));

const ofText = (test: (text: string, part: string) => boolean): FilterComparison => ({
  takesSeveral: false,
  holds: (held, [part = '']) => held.some((text) => test(text.toLowerCase(), part.replaceAll('%', '').toLowerCase())),
});

const ofRank = (test: (rank: number) => boolean): FilterComparison => ({
  takesSeveral: false,
  holds: (held, [bound = '']) => held.some((one) => test(rankOf(one, bound))),
});

const comparisons: ReadonlyMap<string, FilterComparison> = new Map([
  ...each('eq is equals equal exact iexact = ==', { takesSeveral: true, holds: isOneOf }),
  ...each('in any oneof all', { takesSeveral: true, holds: isOneOf }),
  ...each('ne neq not noteq nin notin != <>', { takesSeveral: true, holds: (held, operands) => !isOneOf(held, operands) }),
  ...each(
    'contains icontains like ilike includes match search fuzzy ~',
    ofText((text, part) => text.includes(part)),
  ),
  ...each(
    'startswith prefix istartswith begins beginswith ^',
    ofText((text, part) => text.startsWith(part)),
  ),
  ...each(
    'endswith suffix iendswith',
    ofText((text, part) => text.endsWith(part)),
  ),
  ...each(
    'gt after >',
    ofRank((rank) => rank > 0),
  ),
  ...each(
    'gte min from since start ge >=',
    ofRank((rank) => rank >= 0),
  ),
  ...each(
    'lt before <',
    ofRank((rank) => rank < 0),
  ),
  ...each(
    'lte max to until end le <=',
    ofRank((rank) => rank <= 0),
  ),
]);

/** Which of two comes later: by number, by time, else by letters. */
function rankOf(one: string, other: string): number {
  const numbers = [Number(one), Number(other)] as const;
  if (one !== '' && other !== '' && numbers.every(Number.isFinite)) return numbers[0] - numbers[1];
  const isTime = /^\d{4}-\d\d/.test(one) && /^\d{4}-\d\d/.test(other);
  const times = [Date.parse(one), Date.parse(other)] as const;
  if (isTime && times.every(Number.isFinite)) return times[0] - times[1];
  return one < other ? -1 : Number(one > other);
}

/** Where a field stands in a row. */
export type RowPlace = (row: Fields) => readonly Value[];

/** How two rows stand to each other. */
type RowOrder = (one: Fields, other: Fields) => number;

/** The order that a request asks for by the usual words: `sort=-name`, `order_by=name desc`, `sort_by=name&sort_order=desc`; nothing where it asks for none that is known. */
export function readOrder(sent: ReadonlyMap<string, Value>, find: (name: string) => RowPlace | undefined): RowOrder | undefined {
  const asked = wordIn(sent, sorting) ?? fieldIn(sent);
  if (typeof asked !== 'string' && !Array.isArray(asked)) return undefined;
  const isTurned = directionIn(sent);
  const texts = Array.isArray(asked) ? asked.map(String) : asked.split(',');
  const keys = texts.slice(0, keysMost).flatMap((text) => {
    if (text.length > textMost) return [];
    const [, sign = '', name = '', word = ''] = /^\s*([-+]?)(.*?)(?:[ :.|]+(asc|desc)\w*)?\s*$/i.exec(text) ?? [];
    const place = find(name) ?? find(`${name}_at`);
    const isDescending = sign === '-' || word.toLowerCase() === 'desc' || (sign === '' && word === '' && isTurned);
    return place ? [{ place, factor: isDescending ? -1 : 1 }] : [];
  });
  if (keys.length === 0) return undefined;
  return (one, other) => {
    for (const { place, factor } of keys) {
      const rank = rankOf(textOf(place(one)), textOf(place(other)));
      if (rank !== 0) return rank * factor;
    }
    return 0;
  };
}

/** By how many fields rows are ordered, and how long a word for one of them may be. */
const keysMost = 16;
const textMost = 200;

function textOf([value]: readonly Value[]): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? toJson(value) : String(value);
}

function wordIn(sent: ReadonlyMap<string, Value>, names: ReadonlySet<string>): Value {
  for (const [name, value] of sent) if (names.has(name.replaceAll(/[^A-Za-z]/g, '').toLowerCase())) return value;
  return undefined;
}

/** What `order` says where it is no direction: `order=name`, `order=Name DESC`. */
function fieldIn(sent: ReadonlyMap<string, Value>): Value {
  const order = wordIn(sent, new Set(['order']));
  return /^(?:asc|desc)/i.test(textOf([order])) ? undefined : order;
}

function directionIn(sent: ReadonlyMap<string, Value>): boolean {
  for (const [name, value] of sent)
    if (directions.has(name.replaceAll(/[^A-Za-z]/g, '').toLowerCase()) && /^desc/i.test(textOf([value]))) return true;
  return false;
}

const sorting: ReadonlySet<string> = new Set(['sort', 'sortby', 'orderby', 'ordering', 'sortfield', 'sortcolumn']);
const directions: ReadonlySet<string> = new Set([
  'order',
  'direction',
  'sortorder',
  'sortdirection',
  'sortdir',
  'orderdirection',
]);

/** One comparison of a query: a field by its name, a word for how, and what it is compared with. */
interface QueryTerm {
  readonly field: string;
  readonly op: string;
  readonly value: string;
}

/** A query in one parameter: its comparisons, and whether one of them is enough. */
interface FieldQuery {
  readonly terms: readonly QueryTerm[];
  readonly isAny: boolean;
}

/** How long a query may be, and how many comparisons it may have. */
const lengthMost = 2000;
const termsMost = 50;

/**
 * Reads the comparisons that the queries of most services are made of, whatever their language is called: `status eq "ACTIVE" and age ge 3` (SCIM, OData),
 * `Name=="Acme" AND Total>=5`, `equals(email,"a@b.c")`, joined by `and`, `&&` or commas, or all by `or`. Nothing where there is more in it.
 */
export function readQuery(text: string): FieldQuery | undefined {
  if (text.length > lengthMost) return undefined;
  const inner = /^\s{0,9}(and|or)\((.{1,2000})\)\s{0,9}$/is.exec(text);
  const body = inner?.[2] ?? text;
  const terms: QueryTerm[] = [];
  const joints = new Set<string>(inner ? [jointOf(inner[1])] : []);
  let at = 0;
  while (terms.length < termsMost) {
    const term = termAt(body, at);
    if (term === undefined) return undefined;
    terms.push(term.term);
    at = term.end;
    if (body.slice(at).trim() === '') return joints.size > 1 ? undefined : { terms, isAny: joints.has('or') };
    joint.lastIndex = at;
    const between = joint.exec(body);
    if (!between) return undefined;
    joints.add(between[1] === ',' && inner ? jointOf(inner[1]) : jointOf(between[1]));
    at = joint.lastIndex;
  }
  return undefined;
}

const joint = /\s{0,9}(,|&&|\|\||\band\b|\bor\b)\s{0,9}/iy;

function jointOf(word: string | undefined): 'and' | 'or' {
  return word === '||' || word?.toLowerCase() === 'or' ? 'or' : 'and';
}

const name = '[A-Za-z_$@][\\w.$/-]{0,99}';
// A quote in a text is written twice, or after a backslash.
const literal = `(?:[A-Za-z]{1,20}\\(?)?"((?:[^"\\\\]|\\\\.|""){0,1000})"\\)?|(?:[A-Za-z]{1,20}\\(?)?'((?:[^'\\\\]|\\\\.|''){0,1000})'\\)?|([\\w.:+-]{1,100})`;
const sign = '==|=|!=|<>|>=|<=|>|<';
const word = 'eq|ne|gt|ge|lt|le|co|sw|ew|gte|lte|contains|startswith|endswith|like|in';
const compared = new RegExp(`\\s{0,9}\\(?(${name})\\s{0,9}(?:(${sign})|\\s(${word})\\s)\\s{0,9}(?:${literal})\\)?`, 'iy');
const called = new RegExp(`\\s{0,9}(${name})\\(\\s{0,9}(${name})\\s{0,9},\\s{0,9}(?:${literal})\\s{0,9}\\)`, 'iy');

function termAt(text: string, at: number): { readonly term: QueryTerm; readonly end: number } | undefined {
  called.lastIndex = at;
  const call = called.exec(text);
  if (call) {
    const [, op = '', field = '', double, single, bare] = call;
    return { term: { field, op: plainOp(op), value: unquoted(double, single, bare) }, end: called.lastIndex };
  }
  compared.lastIndex = at;
  const found = compared.exec(text);
  if (!found) return undefined;
  const [, field = '', by, how, double, single, bare] = found;
  return { term: { field, op: plainOp(by ?? how ?? ''), value: unquoted(double, single, bare) }, end: compared.lastIndex };
}

function unquoted(double: string | undefined, single: string | undefined, bare: string | undefined): string {
  if (bare !== undefined) return bare;
  return (double ?? single ?? '')
    .replaceAll(/\\(.)/gs, '$1')
    .replaceAll(double === undefined ? "''" : '""', double === undefined ? "'" : '"');
}

const words: ReadonlyMap<string, string> = new Map([
  ['==', 'eq'],
  ['=', 'eq'],
  ['!=', 'ne'],
  ['<>', 'ne'],
  ['>=', 'gte'],
  ['<=', 'lte'],
  ['>', 'gt'],
  ['<', 'lt'],
  ['co', 'contains'],
  ['sw', 'startswith'],
  ['ew', 'endswith'],
  ['greaterthan', 'gt'],
  ['greaterorequal', 'gte'],
  ['lessthan', 'lt'],
  ['lessorequal', 'lte'],
]);

function plainOp(op: string): string {
  const own = op.toLowerCase().replaceAll(/[-_]/g, '');
  return words.get(own) ?? own;
}
