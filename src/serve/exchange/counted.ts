import type { Decision, RateFacts } from '../../kinds/limits/kind.ts';

/** What the rates have made of a request so far. */
export interface Counted {
  /** The rates that counted it, or that refused it, with what they said. */
  rates: RateUse[];
  /** The `RateLimit-Policy` of these rates. */
  policy: string;
  /** Whether one of them refused it, so that none has counted it. */
  readonly isRefused: boolean;
}

/** What expressions read of the strictest rate: how many requests, how many of them are left, and when more are. */
export interface ToldRate {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds since 1970. */
  readonly reset: number;
}

/** What is read where no rate counted. */
export const noRate = { limit: null, remaining: null, reset: null } as const;

/** The rate of which the fewest are left, and of several the one that waits longest; nothing where none counted. */
export function strictestOf({ rates }: Counted, nowMs: number): ToldRate | undefined {
  let strictest: { readonly left: number; readonly moreMs: number; readonly limit: number } | undefined;
  for (const { rate, decision } of rates) {
    const left = Math.floor(decision.remaining / rate.unit);
    const { moreMs } = decision;
    if (strictest && (left > strictest.left || (left === strictest.left && moreMs <= strictest.moreMs))) continue;
    strictest = { left, moreMs, limit: Math.floor(rate.facts.limit / rate.unit) };
  }
  if (!strictest) return undefined;
  const { left, moreMs, limit } = strictest;
  return { limit, remaining: left, reset: Math.ceil((nowMs + Math.min(moreMs, longestMs)) / 1000) };
}

/** No wait that is told is longer than a year. */
const longestMs = 366 * 86_400_000;

/** One rate's decision about one request. */
export interface RateUse {
  /** How the rate begins in the `RateLimit` field, and how many of its units one request is. */
  readonly rate: { readonly label: string; readonly unit: number; readonly facts: RateFacts };
  readonly decision: Decision;
  /** Takes it out again. */
  giveBack(nowMs: number): void;
  /** What it was answered with may not count. */
  answered(status: number, nowMs: number): void;
}
