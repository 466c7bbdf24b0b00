import type { Decision } from '../../kinds/limits/kind.ts';

/** What the rates have made of a request so far. */
export interface Counted {
  /** The rates that counted it, or that refused it, with what they said. */
  rates: RateUse[];
  /** The `RateLimit-Policy` of these rates. */
  policy: string;
}

/** One rate's decision about one request. */
export interface RateUse {
  /** How the rate begins in the `RateLimit` field, and how many of its units one request is. */
  readonly rate: { readonly label: string; readonly unit: number };
  readonly decision: Decision;
  /** Takes it out again. */
  giveBack(nowMs: number): void;
}
