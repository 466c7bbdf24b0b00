import type { PartName, Place, Pointer } from '../document/document.ts';
import type { Standing } from '../parts/fact.ts';

/** What is said of one fact. `held` is only said where something showed it. */
export type Verdict = 'held' | 'broken' | 'not testable' | 'open';

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
  /** Why it is not testable. */
  readonly why?: string;
}

/** A promise that the service does not keep. */
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
  /** How many cases saw the same. */
  readonly witnesses: number;
  /** Whether a baseline names it. */
  readonly isKnown?: boolean;
}

export interface StepTold {
  readonly does: string;
  readonly came: string;
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
  readonly unsteady: readonly Unsteady[];
  readonly requests: number;
  readonly ms: number;
  /** What was made and could not be removed again. */
  readonly leftovers: readonly Leftover[];
  /** What a person should know beside: time that rates cost, cases that were left out. */
  readonly notes: readonly string[];
  /** Why it ended before all cases were carried out. */
  readonly stopped?: string;
}

export interface Leftover {
  readonly resource: string;
  readonly count: number;
  readonly why: string;
}
