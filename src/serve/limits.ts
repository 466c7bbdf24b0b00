import type { Work } from './acts/act.ts';
import type { Engine } from './engine.ts';
import type { Call, Exchange, Refusal } from './exchange.ts';
import type { Plan } from './plan.ts';

/** What the limits part does on a request's road; what is not there costs nothing. */
export interface CompiledLimits {
  /** Step 3: rates per address and for everyone, failed logins included. */
  readonly first: ((call: Call, plan: Plan, nowMs: number) => Refusal | undefined) | undefined;
  /** Step 5: rates per caller and user. */
  readonly second: ((exchange: Exchange) => Refusal | undefined) | undefined;
  /** Header fields that tell of the rates that counted this request. */
  readonly headers: ((exchange: Exchange) => Readonly<Record<string, string>> | undefined) | undefined;
  /** Step 15, inside the change: uses quota. @throws {Refused} `limit.quota` */
  readonly spend: ((work: Work, exchange: Exchange) => void) | undefined;
}

/** The limits of a service that has none. */
export const noLimits: CompiledLimits = { first: undefined, second: undefined, headers: undefined, spend: undefined };

/** Compiles the limits of a document; nothing is limited yet but sizes and pages. */
export function compileLimits(_engine: Engine): CompiledLimits {
  return noLimits;
}
