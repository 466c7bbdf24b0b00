import type { Json, Pointer } from '../document/document.ts';
import { durationMs } from '../kinds/durations.ts';
import { isRateWord, type RateWord, rateKinds } from '../kinds/limits/all.ts';
import type { StatedRate } from '../kinds/limits/kind.ts';
import { inOnePiece, isPageWord, type PageWord, pageStyles } from '../kinds/pages/all.ts';
import type { StatedPages } from '../kinds/pages/kind.ts';
import { tellingOf } from '../kinds/pages/telling.ts';
import { sizeBytes } from '../kinds/sizes.ts';
import type { Fact, Named } from './fact.ts';
import { named, type Source } from './source.ts';

/** Part 8: how much, how large, how long, how many. */
export interface Limits {
  readonly at: Pointer;
  readonly rate: Fact<readonly Rate[]>;
  readonly size: Fact<Sizes>;
  readonly timeout: Fact<Timeouts>;
  readonly pagination: Fact<Pagination>;
  readonly quota: Fact<readonly Quota[]>;
  /** Under which names rates are told; open = those of the draft standard. */
  readonly headers: Fact<RateHeaders>;
  /** The addresses whose forwarding headers count. */
  readonly trustProxies: Fact<readonly string[]>;
}

export type Per = 'caller' | 'user' | 'address' | 'everyone';

export interface Rate extends StatedRate {
  readonly at: Pointer;
  readonly kind: RateWord;
  readonly per: Per;
  /** Whether what counts everybody counts also those who turn out to be nobody: before credentials are looked at. */
  readonly isBeforeCredentials?: true;
  readonly to?: readonly string[];
  /** The operations it counts; absent = all. */
  readonly on?: readonly string[];
  /** What an operation counts, where it is not 1. */
  readonly cost: Named<number>;
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
  /** Constants of the envelope. */
  readonly data: Named<Json>;
}

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

export interface Quota {
  readonly at: Pointer;
  readonly per: Per;
  readonly to?: readonly string[];
  readonly on?: readonly string[];
  readonly limit: number;
  readonly window: string;
  readonly zone: string;
}

export function readLimits(source: Source): Limits {
  return {
    at: source.at,
    rate: source.get('rate').fact((value) => value.items().flatMap(readRate)),
    size: source.get('size').fact(readSizes),
    timeout: source.get('timeout').fact(readTimeouts),
    pagination: source.get('pagination').fact(readPagination),
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

function readScope(source: Source): { per: Per; to?: string[]; on?: string[] } {
  const per = source.get('per').text();
  return {
    per: per === 'user' || per === 'address' || per === 'everyone' ? per : 'caller',
    ...(source.has('to') && { to: source.get('to').words() }),
    ...(source.has('on') && { on: source.get('on').words() }),
  };
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
