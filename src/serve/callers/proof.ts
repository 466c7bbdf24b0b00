import type { Caller } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';

/** Who shows a credential: nobody where it is not good; `expired`: somebody whose time is over; or why nobody can tell, such as that the body that is signed is `too large`. */
export type ProofOutcome =
  | { readonly caller: Caller }
  | undefined
  | 'expired'
  | 'unavailable'
  | 'busy'
  | 'hurried'
  | 'too large'
  | 'unsupported';
export type Prove = (text: string, nowMs: number, call: Call) => ProofOutcome | Promise<ProofOutcome>;
