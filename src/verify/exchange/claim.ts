import type { Pointer } from '../../document/document.ts';
import type { FactName } from './facts.ts';
import type { RequestPlan } from './plan.ts';
import type { Done } from './step.ts';

/** A promise that was not kept: what the document says, and what was seen instead. */
export interface Flaw {
  readonly promised: string;
  readonly seen: string;
}

/** The claim cannot be made of these exchanges: they are not what it is about. */
export class Moot {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

/** Nothing = it held. */
export type Judgement = Flaw | Moot | undefined;

/** Says that exchanges do not bear on a claim. */
export function moot(why: string): Moot {
  return new Moot(why);
}

export function isFlaw(judgement: Judgement): judgement is Flaw {
  return judgement !== undefined && !(judgement instanceof Moot);
}

/** A request that is to be accepted, or how to make what it needs. */
export type Control = RequestPlan | (() => Promise<RequestPlan>);

/** What a trial says of exchanges. `judge` is a pure function of what the steps in `of` gave. */
export interface Claim<T extends readonly unknown[] = readonly unknown[]> {
  readonly fact: FactName;
  /** A short word, such as `stored` or `kept`: one fact is reported once for each. */
  readonly reason: string;
  readonly of: { readonly [K in keyof T]: Done<T[K]> };
  judge(...results: T): Judgement;
  /** The place of the promise, where it is narrower than the fact's. */
  readonly at?: Pointer;
  /** Times that it is tried again before it counts as broken or as unsteady; races want more than the usual two. */
  readonly tries?: number;
  /**
   * For what is refused: the request that it was made from, which is accepted. It is sent at the end of the case where the fact still
   * wants to be shown, and no request of the case that was accepted differs from what was refused in one thing alone.
   */
  readonly control?: Control | undefined;
  /** Whether it speaks of how answers look, refusals or not: what is refused then needs no control. */
  readonly isOfForm?: boolean;
  /** How many runs may be spent on making its script smaller; waiting for what does not come costs more than most. */
  readonly shrinkingRuns?: number;
}
