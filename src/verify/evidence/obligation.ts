import type { Claim } from '../exchange/claim.ts';
import { isExchange, type TrialExchange } from '../exchange/exchange.ts';

/** A claim that held, and the answers that it was judged by. */
export interface HeldClaim {
  readonly claim: Claim;
  readonly values: readonly unknown[];
  readonly exchanges: readonly TrialExchange[];
}

/** Something that has to have been looked at before a fact is held. */
export interface Obligation {
  /** For people, after `not looked at:`. */
  readonly name: string;
  /** Why nobody can look in this run. */
  readonly why?: string;
  isMetBy(shown: HeldClaim): boolean;
}

/** What was looked at of a fact, and how many altered answers would have been noticed. */
export interface FactEvidence {
  readonly looks: readonly { readonly name: string; readonly isMet: boolean; readonly why?: string }[];
  /** How many more looks the document asks for than are kept. */
  readonly left?: number;
  /** Answers that were altered after they had come, and how many of them would have been said to break the fact. */
  readonly alterations: { readonly tried: number; readonly noticed: number };
}

/** A claim of which every step is done. */
export function heldClaim(claim: Claim): HeldClaim {
  const values = claim.of.map(({ value }) => value);
  return { claim, values, exchanges: values.flat().filter(isExchange) };
}
