import type { Json, Pointer } from '../document/document.ts';
import { isRateWord, type RateWord, rateKinds } from '../kinds/limits/all.ts';
import type { StatedRate } from '../kinds/limits/kind.ts';
import { durationMs, sizeBytes } from '../kinds/measures.ts';
import { inOnePiece, isPageWord, type PageWord, pageStyles } from '../kinds/pages/all.ts';
import type { StatedPages } from '../kinds/pages/kind.ts';
import { tellingOf } from '../kinds/pages/telling.ts';
import type { Expression, Fact, Named } from './fact.ts';
import { type RowLimit, readRowLimits } from './row-limits.ts';
import { named, type Source } from './source.ts';

/** Part 8: how much, how large, how long, how many. */
export interface Limits {
  readonly at: Pointer;
  readonly rate: Fact<readonly Rate[]>;
  readonly size: Fact<Sizes>;
  readonly timeout: Fact<Timeouts>;
  readonly pagination: Fact<Pagination>;
  readonly quota: Fact<readonly Quota[]>;
  /** How many requests may be under way at once. */
  readonly atOnce: Fact<readonly AtOnce[]>;
  /** How many rows there may be. */
  readonly rows: Fact<readonly RowLimit[]>;
  /** Under which names rates are told; open = those of the draft standard. */
  readonly headers: Fact<RateHeaders>;
  /** The addresses whose forwarding headers count. */
  readonly trustProxies: Fact<readonly string[]>;
}

/** `value`: what an expression comes to. */
export type Per = 'caller' | 'user' | 'address' | 'everyone' | 'value';

/** Whom a limit counts, apart from whom, and of what. */
export interface LimitScope {
  readonly per: Per;
  /** What is counted apart, where `per` is an expression. */
  readonly by?: Expression;
  /** Of which callers it counts anything. */
  readonly if?: Expression;
  /** The users that it is for; `anyone` = whoever shows no credential. Absent = all. */
  readonly to?: readonly string[];
  /** The operations it counts; absent = all. */
  readonly on?: readonly string[];
}

export interface Rate extends StatedRate, LimitScope {
  readonly at: Pointer;
  readonly kind: RateWord;
  /** Whether what counts everybody counts also those who turn out to be nobody: before credentials are looked at. */
  readonly isBeforeCredentials?: true;
  /** What an operation counts, where it is not 1. */
  readonly cost: Named<number>;
  /** Answers that count nothing in the end: statuses such as `304`, and all of a kind such as `5XX`. */
  readonly uncounted?: readonly string[];
}

/** What a limit counts apart, for people. */
export function perName({ per, by }: Pick<LimitScope, 'per' | 'by'>): string {
  return by?.source ?? per;
}

/** Whether what was answered with a status counts nothing. */
export function isUncounted({ uncounted = [] }: Pick<Rate, 'uncounted'>, status: number): boolean {
  return uncounted.includes(String(status)) || uncounted.includes(`${Math.floor(status / 100)}XX`);
}

/** Whether a limit is for somebody: whoever shows no credential is `anyone`. */
export function isLimitFor({ to }: Pick<LimitScope, 'to'>, caller: { readonly user: string } | undefined): boolean {
  return to === undefined || to.includes(caller === undefined ? 'anyone' : caller.user);
}

/** Sizes in bytes. */
export interface Sizes {
  readonly body?: number;
  readonly url?: number;
  readonly headers?: number;
  readonly file?: number;
}

export interface Timeouts {
  readonly requestMs?: number;
  readonly idleMs?: number;
}

export interface Pagination extends StatedPages {
  readonly at: Pointer;
  readonly style: PageWord;
  /** Where the way to the next page is told. */
  readonly isToldInBody: boolean;
  readonly isToldInLink: boolean;
  /** The envelope's fields; no `items` = a bare array. */
  readonly items?: string;
  readonly next?: string;
  readonly previous?: string;
  readonly hasMore?: string;
  readonly total?: string;
  /** The field with the path of the list, without its query. */
  readonly self?: string;
  /** Constants of the envelope. */
  readonly data: Named<Json>;
}

/** How many rows a page has where its greatest size is not stated. */
export const pageRowsMost = 10_000;

/** Whether lists are cut into pages, rather than shown in one piece. */
export function isCut(pagination: Pagination | undefined): pagination is Pagination {
  return pagination !== undefined && pagination.style !== inOnePiece.word;
}

/** The header fields that tell of the strictest rate: how many, how many are left, and when more are. */
export interface RateHeaders {
  readonly limit?: string;
  readonly remaining?: string;
  readonly reset?: { readonly name: string; readonly as: ResetForm };
}

/** How the time is told when more can be used: seconds from now, seconds since 1970, or a date of HTTP. */
export const resetForms = ['seconds', 'unix', 'http-date'] as const;
export type ResetForm = (typeof resetForms)[number];

/** How many requests may be under way at once. */
export interface AtOnce extends LimitScope {
  readonly at: Pointer;
  readonly limit: number;
}

export interface Quota extends LimitScope {
  readonly at: Pointer;
  readonly limit: number;
  readonly window: string;
  readonly zone: string;
}

export function readLimits(part: Source): Limits {
  const source = part.eachOf(['rate', 'size', 'timeout', 'pagination', 'quota']);
  return {
    at: source.at,
    rate: source.get('rate').fact((value) => value.items().flatMap(readRate)),
    size: source.get('size').fact(readSizes),
    timeout: source.get('timeout').fact(readTimeouts),
    pagination: source.get('pagination').fact(readPagination),
    atOnce: source.get('at_once').fact(readAtOnce),
    rows: source.get('rows').fact(readRowLimits),
    quota: source.get('quota').fact((value) => value.items().map(readQuota)),
    headers: source.get('headers').fact(readRateHeaders),
    trustProxies: source.get('trust_proxies').fact((value) => value.words()),
  };
}

function readRateHeaders(source: Source): RateHeaders | undefined {
  if (!source.isMap) return undefined;
  const limit = source.get('limit').text();
  const remaining = source.get('remaining').text();
  const reset = source.get('reset');
  const [[name, form] = []] = reset.isMap
    ? reset.entries().map(([key, one]) => [key, one.text()] as const)
    : [[reset.text(), undefined] as const];
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(name !== undefined && { reset: { name, as: resetForms.find((one) => one === form) ?? 'seconds' } }),
  };
}

function readScope(source: Source): LimitScope {
  const word = source.get('per').text();
  const per = perWords.find((one) => one === word) ?? (word === undefined ? 'caller' : 'value');
  const by = per === 'value' ? source.get('per').expression() : undefined;
  const condition = source.get('if').expression();
  return {
    per,
    ...(by && { by }),
    ...(condition && { if: condition }),
    ...(source.has('to') && { to: source.get('to').words() }),
    ...(source.has('on') && { on: source.get('on').words() }),
  };
}

/** The words for what is counted apart; anything else is an expression. */
export const perWords = ['caller', 'user', 'address', 'everyone'] as const;

/** A number alone is of each caller. */
function readAtOnce(source: Source): readonly AtOnce[] {
  const number = source.number();
  if (number !== undefined) return [{ at: source.at, per: 'caller', limit: number }];
  const all = source.isMap ? [source] : source.items();
  return all.map((one) => ({ at: one.at, ...readScope(one), limit: one.get('limit').number() ?? Number.NaN }));
}

/** The words that belong to one kind of rate or another. */
const ownWords = rateKinds.flatMap(({ members }) => Object.keys(members));

/** A rate; none where its kind is a word that there is not, which the form of the document says. */
function readRate(source: Source): Rate[] {
  const kind = source.get('kind').text() ?? rateKinds[0].word;
  if (!isRateWord(kind)) return [];
  return [
    {
      at: source.at,
      ...readScope(source),
      ...(source.get('before').text() === 'credentials' && { isBeforeCredentials: true as const }),
      kind,
      limit: source.get('limit').number() ?? Number.NaN,
      windowMs: durationMs(source.get('window').text() ?? '') ?? Number.NaN,
      own: source.members(ownWords, ({ value }) => value),
      cost: named(
        source
          .get('cost')
          .entries()
          .map(([name, cost]) => [name, cost.number() ?? 1] as const),
      ),
      ...(source.has('uncounted') && {
        uncounted: source
          .get('uncounted')
          .items()
          .map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value))),
      }),
    },
  ];
}

function readSizes(source: Source): Sizes | undefined {
  if (!source.isMap) return undefined;
  const size: Record<string, number> = {};
  for (const word of ['body', 'url', 'headers', 'file']) {
    const bytes = sizeBytes(source.get(word).text() ?? '');
    if (bytes !== undefined) size[word] = bytes;
  }
  return size;
}

function readTimeouts(source: Source): Timeouts | undefined {
  if (!source.isMap) return undefined;
  const requestMs = durationMs(source.get('request').text() ?? '');
  const idleMs = durationMs(source.get('idle').text() ?? '');
  return { ...(requestMs !== undefined && { requestMs }), ...(idleMs !== undefined && { idleMs }) };
}

/** Pagination; nothing where its style, or where it is told, is a word that there is not, which the form of the document says. */
export function readPagination(source: Source): Pagination | undefined {
  if (!source.isMap) return undefined;
  const style = source.get('style').text();
  const told = tellingOf(source.get('told').text());
  if (style === undefined || !isPageWord(style) || !told) return undefined;
  const overMax = source.get('over_max').text();
  const fields: Record<string, string> = {};
  for (const [word, name] of fieldWords) {
    const text = source.get(word).unstated() ? undefined : source.get(word).text();
    if (text !== undefined) fields[name] = text;
  }
  const usual = source.get('default').number();
  const max = source.get('max').number();
  return {
    at: source.at,
    style,
    names: source.members(parameterWords, (value) => (value.unstated() ? undefined : value.text())),
    ...fields,
    ...(usual !== undefined && { default: usual }),
    ...(max !== undefined && { max }),
    ...((overMax === 'clamp' || overMax === 'refuse') && { overMax }),
    isToldInBody: told.isInBody,
    isToldInLink: told.isInLink,
    data: named(
      source
        .get('data')
        .entries()
        .map(([name, value]) => [name, value.value as Json] as const),
    ),
  };
}

/** The words that name a parameter or a field of the envelope, whatever the style. */
const fieldWords = [
  ['size', 'size'],
  ['items', 'items'],
  ['next', 'next'],
  ['previous', 'previous'],
  ['has_more', 'hasMore'],
  ['total', 'total'],
  ['self', 'self'],
] as const;

const parameterWords = pageStyles.flatMap(({ parameters }) => parameters.map(({ word }) => word));

function readQuota(source: Source): Quota {
  return {
    at: source.at,
    ...readScope(source),
    limit: source.get('limit').number() ?? Number.NaN,
    window: source.get('window').text() ?? '',
    zone: source.get('zone').text() ?? 'UTC',
  };
}
