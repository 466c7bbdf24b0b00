import type { Comparison } from '../comparison.ts';
import type { Members, Problem } from '../member.ts';

/** What a rate states of how often, in requests. */
export interface StatedRate {
  readonly limit: number;
  readonly windowMs: number;
  /** The values of the words that belong to kinds of rates, as they are written. */
  readonly own: Readonly<Record<string, unknown>>;
}

/** The same in whole units: a request counts some of them. */
export interface RateFacts {
  readonly limit: number;
  readonly windowMs: number;
  /** How many can be used at once where nothing is in use. */
  readonly capacity: number;
}

/**
 * What somebody has used so far, as numbers that only the kind understands. No numbers = nothing. It is read and written in
 * place, so that deciding makes no garbage; whoever keeps it writes it back, or does not.
 */
export interface Use {
  readonly numbers: Float64Array;
  length: number;
}

/** What a kind says of one request. */
export interface Decision {
  readonly isAllowed: boolean;
  /** The units that are left: after this request where it is allowed, as it is where it is not. */
  readonly remaining: number;
  /** In how many milliseconds more than `remaining` can be used; the whole window where nothing is in use. */
  readonly moreMs: number;
  /** In how many milliseconds a refused request is allowed if nobody else asks, and not earlier; it may be never: Infinity. */
  readonly waitMs: number;
  /** What was in use before this request, for giving it back. */
  readonly before: number;
}

/** One request that was counted. */
export interface Taken {
  readonly atMs: number;
  readonly cost: number;
  readonly before: number;
}

/**
 * A way of counting requests over time: a word that may stand as a rate's `kind`. Pure: the facts, the use so far and the
 * time go in, a decision and the new use come out. A time before the last one counts as no time passed.
 */
export interface RateKind {
  readonly word: string;
  readonly meaning: string;
  /** What it is called where a sentence speaks of it. */
  readonly noun: string;
  /** What it promises of how many are allowed, and when. */
  readonly exactness: string;
  /** The words beside a rate's own that say something of this kind. */
  readonly members: Members;
  /** What is wrong with how it is stated, beyond the form of its members. */
  problems(stated: StatedRate): readonly Problem[];
  /** How many can be used at once where nothing is in use. */
  capacity(stated: StatedRate): number;
  /** What callers are told of it beside limit and window: parameters of `RateLimit-Policy`, each with `ninefold-` before its name. */
  told(stated: StatedRate): Readonly<Record<string, number>>;
  /** How many numbers a use takes at the most. */
  readonly numbersMax: number;
  /** Decides; where it allows, `use` is what was used with this request, otherwise what was used up to now. */
  decide(facts: RateFacts, use: Use, nowMs: number, cost: number): Decision;
  /** Takes a counted request out again, as if it had not come; never more than that. */
  giveBack(facts: RateFacts, use: Use, nowMs: number, taken: Taken): void;
  /** From when on the use is nothing. */
  expiresMs(facts: RateFacts, use: Use): number;
  /** How many requests in a row are sent, where `room` of them can be used at once, until one has to have been refused. */
  requestsToReach(room: number): number;
  /** How much can have been let through within so long, seen from outside; Infinity where nothing follows. */
  mostWithin(stated: StatedRate, spreadMs: number): number;
  /** After how long without a request everything is forgotten. */
  memoryMs(stated: StatedRate): number;
  /**
   * `decide` and `giveBack` once more in Lua 5.1, for rates that are counted inside Redis: a function body that returns a table of the two.
   * `decide(facts, use, now, cost)` gives allowed, remaining, more, wait and before; `giveBack(facts, use, now, at, cost, before)` nothing.
   * `use` is a list of numbers that is written in place. A kind without it is not counted there.
   */
  readonly lua?: string;
  /** How a later rate of this kind stands to an earlier one. */
  compare(before: StatedRate, after: StatedRate): Comparison;
}

/** The decision where a request does not fit now, or never. */
export function refusedDecision(remaining: number, moreMs: number, waitMs: number, before: number): Decision {
  return { isAllowed: false, remaining, moreMs, waitMs, before };
}
