import type { GivenCaller } from './exchange/callers.ts';
import type { GivenRows } from './model/seeds.ts';
import type { Breach } from './report.ts';
import type { WouldSuffice } from './slots.ts';

/** How a service is held to its document. */
export interface VerifyOptions {
  /** Its address; without a path, the prefix of the document's base address is put behind it. */
  readonly url: string;
  /** Who can be spoken for. Without schemes nobody has to be. */
  readonly callers?: readonly GivenCaller[];
  /** What everything is drawn from; the same seed asks the same things. */
  readonly seed?: number;
  /** How many requests may be sent, for whatever: 40,000. */
  readonly requests?: number;
  /** How long it may take, with looking again and cleaning up, in milliseconds: a minute. */
  readonly timeMs?: number;
  /** How long one answer is waited for, in milliseconds: ten seconds. */
  readonly answerMs?: number;
  /** How many cases run beside each other: 16. */
  readonly beside?: number;
  /** Parts, kinds or subjects of facts, or names of trials: nothing else is held to anything. */
  readonly only?: readonly string[];
  /** Send nothing that changes anything. */
  readonly readOnly?: boolean;
  /** The host that is meant, where it is not this machine: nothing is sent to another one unless it is named here. */
  readonly yesThisHost?: string;
  /** Where the service's clock can be moved. */
  readonly clockUrl?: string;
  /** Hold it also to what services usually do and the document does not promise. */
  readonly conventions?: boolean;
  /** Rows that are there already, for what the service's operations cannot make. */
  readonly rows?: GivenRows;
  /** The resources whose given rows may be changed; they are put back. */
  readonly mayChange?: readonly string[];
  /** Facts and trials that are left out for a time. */
  readonly skips?: readonly Skip[];
  /** Starts the service anew, so that what was found is shown once more from there. */
  readonly restart?: () => Promise<void>;
  /** Only this breach, by its id. */
  readonly replay?: string;
  /** The ids of breaches that are known. */
  readonly baseline?: readonly string[];
  /** Ends the run once a breach is found that is looked for. */
  readonly until?: (breach: Breach) => boolean;
  /** Told as it goes. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly done: number;
  readonly of: number;
  readonly requests: number;
  readonly broken: number;
  /** The trial that is under way. */
  readonly now: string;
  /** What would suffice for all of it, by what it has cost so far, once that is known. */
  readonly sufficing?: WouldSuffice;
}

/** A fact, as `kind:subject`, or a trial, by its name, that is left out to the end of a day, and why. */
export interface Skip {
  readonly fact?: string;
  readonly trial?: string;
  readonly reason: string;
  /** `2026-12-31` */
  readonly until: string;
}

/** It could not be begun: the address is not to be used, or nothing answers there. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}
