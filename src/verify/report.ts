import type { PartName, Place, Pointer } from '../document/document.ts';
import type { Standing } from '../parts/fact.ts';
import type { FactEvidence } from './evidence/obligation.ts';
import type { ExchangeTold, StepTold } from './session/told.ts';
import type { WouldSuffice } from './slots.ts';

/**
 * What is said of one fact. `held` is only said where everything that has to be looked at was, and another answer would have been
 * noticed; `partly` where some of it was.
 */
export type Verdict = 'held' | 'partly' | 'broken' | 'not testable' | 'open';

/** One fact of the ledger and what came of holding the service to it. */
export interface FactVerdict {
  readonly part: PartName;
  readonly kind: string;
  readonly subject: string;
  readonly at: Pointer;
  readonly place: Place;
  readonly standing: Standing;
  readonly verdict: Verdict;
  /** What showed it, by the reason of the claim, and how often. */
  readonly shown: Readonly<Record<string, number>>;
  /** What showed it, and what did not; absent where the fact is no promise. */
  readonly evidence?: FactEvidence;
  /** Why it is not testable, or not wholly shown. */
  readonly why?: string;
}

/** A promise that the service does not keep, or a failure of it. */
export interface Breach {
  /** For `--replay` and for baselines: the fact, the reason and the case, and the seed that the case was drawn from. */
  readonly id: string;
  readonly part: PartName;
  readonly kind: string;
  readonly subject: string;
  readonly reason: string;
  readonly at: Pointer;
  readonly place: Place;
  readonly promised: string;
  readonly seen: string;
  /** The trial and case that found it. */
  readonly found: string;
  readonly steps: readonly StepTold[];
  /** The same as shell commands. */
  readonly script: readonly string[];
  /** The exchanges that were judged, as they came in the last run. */
  readonly exchanges: readonly ExchangeTold[];
  /** How often the steps were run from a clean start, and how often they showed it. */
  readonly reproduced: Reproduced;
  /** How many cases saw the same. */
  readonly witnesses: number;
  /** Whether a baseline names it. */
  readonly isKnown?: boolean;
}

/** Runs of a reproduction, each from nothing. */
export interface Reproduced {
  readonly runs: number;
  readonly shown: number;
  /** `restarted`: the service was started anew before each; `alone`: nothing else went on, and what was made was removed before; `beside others`. */
  readonly from: 'restarted' | 'alone' | 'beside others';
}

/** Breaches that most likely are of one fault: they were seen in the same exchange, or say the same of several facts. */
export interface Cause {
  /** The ids of the breaches, the one that shows it best first. */
  readonly breaches: readonly string[];
}

/** What is left out by name. */
export interface SkipTold {
  readonly name: string;
  readonly reason: string;
  readonly until: string;
}

/** Something that was seen and did not come again. */
export interface Unsteady extends Breach {
  /** How often it was seen, of how many tries. */
  readonly seenTimes: number;
  readonly tries: number;
}

export type VerdictCounts = Readonly<Record<Verdict, number>>;

/** What came of holding a service to its document. */
export interface VerifyReport {
  readonly title: string;
  readonly url: string;
  readonly seed: number;
  readonly facts: readonly FactVerdict[];
  readonly parts: Readonly<Record<PartName, VerdictCounts>>;
  readonly total: VerdictCounts;
  readonly breaches: readonly Breach[];
  /** Requests that made the service fail, told apart from what it promised. */
  readonly crashes: readonly Breach[];
  /** The breaches by what causes them. */
  readonly causes: readonly Cause[];
  readonly unsteady: readonly Unsteady[];
  readonly requests: number;
  readonly ms: number;
  /** What was made and could not be removed again. */
  readonly leftovers: readonly Leftover[];
  /** What a person should know beside: time that rates cost, cases that were left out. */
  readonly notes: readonly string[];
  readonly skips: readonly SkipTold[];
  /** The users of whom no credential was given, of a document that asks for credentials. */
  readonly unspoken: readonly string[];
  /** The callers whose credential was taken nowhere. */
  readonly rejected: readonly string[];
  /** What was not tried because of how the document states something. */
  readonly untried: readonly Untried[];
  /** Why it ended before all cases were carried out. */
  readonly stopped?: string;
  /** What would have sufficed, where the requests or the time did not. */
  readonly sufficing?: WouldSuffice;
}

/** Trials that have less to try because something is stated in its own words. */
export interface Untried {
  /** `response of POST /notes` */
  readonly stated: string;
  readonly place: Place;
  readonly trials: readonly string[];
}

export interface Leftover {
  readonly resource: string;
  readonly count: number;
  readonly why: string;
}

/** Whether a service broke a promise, or failed, and no baseline knows of it. */
export function hasFailed({ breaches, crashes }: Pick<VerifyReport, 'breaches' | 'crashes'>): boolean {
  return [...breaches, ...crashes].some(({ isKnown }) => isKnown !== true);
}
