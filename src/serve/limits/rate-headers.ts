/** What callers are told of the rates: their names, their policies, and header fields that a document states itself. */

import type { RateKind } from '../../kinds/limits/kind.ts';
import type { Rate, RateHeaders, ResetForm } from '../../parts/limits.ts';
import { type Counted, strictestOf } from '../exchange/counted.ts';

/** The strictest rate under the names that a document states. */
export function ownRateHeaders(names: RateHeaders, counted: Counted, nowMs: number): Record<string, string> {
  const told = strictestOf(counted, nowMs);
  const headers: Record<string, string> = {};
  if (!told) return headers;
  if (names.limit !== undefined) headers[names.limit.toLowerCase()] = String(told.limit);
  if (names.remaining !== undefined) headers[names.remaining.toLowerCase()] = String(told.remaining);
  if (names.reset) headers[names.reset.name.toLowerCase()] = resetText[names.reset.as](told.reset, nowMs);
  return headers;
}

const resetText: Readonly<Record<ResetForm, (at: number, nowMs: number) => string>> = {
  seconds: (at, nowMs) => String(Math.ceil(at - nowMs / 1000)),
  unix: String,
  'http-date': (at) => new Date(at * 1000).toUTCString(),
};

/**
 * What rates are called in the header fields: whom they count, for whom, of what, and over which time: `caller-1m`,
 * `address-1s-create-parcel`. How much is allowed is not in the name, so that it can change. Two of one name are numbered.
 */
export function policyNames(rates: readonly Rate[]): string[] {
  const seen = new Map<string, number>();
  return rates.map(({ per, by, to = [], on = [], windowMs }) => {
    const name = [by?.source.slice(0, 40) ?? per, durationText(windowMs), ...several(to), ...several(on)]
      .join('-')
      .replaceAll(/[^\w.+-]+/g, '-');
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}-${count}`;
  });
}

/** One item of `RateLimit-Policy`; a window that is no whole number of seconds cannot be told. */
export function policyOf(name: string, rate: Rate, kind: RateKind): string {
  const { limit, windowMs } = rate;
  const seconds = Number.isInteger(windowMs / 1000) && windowMs > 0 ? `;w=${windowMs / 1000}` : '';
  const own = Object.entries(kind.told(rate)).map(([word, value]) => `;ninefold-${word}=${value}`);
  return `"${name}";q=${Math.floor(limit)}${seconds}${own.join('')}`;
}

const units: readonly (readonly [string, number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

function durationText(ms: number): string {
  const [unit, unitMs] = units.find(([, of]) => ms > 0 && ms % of === 0) ?? ['ms', 1];
  return `${ms / unitMs}${unit}`;
}

/** The first, and how many more. */
function several(words: readonly string[]): string[] {
  const [first, ...more] = words;
  if (first === undefined) return [];
  return [more.length === 0 ? first : `${first}+${more.length}`];
}

/** `Retry-After` in whole seconds, rounded up; nothing where no wait is long enough. */
export function retryAfter(waitMs: number): Record<string, string> {
  return waitMs < longestMs ? { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) } : {};
}

/** Times beyond this are never told: no integer of a structured field holds them (RFC 9651 section 3.3.1). */
export const longestMs = 1e15;
