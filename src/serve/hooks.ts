import type { Work } from './acts/act.ts';
import type { Call, Caller, Exchange, Meant, Refusal, Reply } from './exchange.ts';

/** What the limits part does on a request's road; what is not there costs nothing. */
export interface CompiledLimits {
  /** Step 3: rates per address and for everyone, failed logins included. */
  readonly first: ((call: Call, plan: Meant, nowMs: number) => Refusal | undefined) | undefined;
  /** Step 5: rates per caller and user. */
  readonly second: ((exchange: Exchange) => Refusal | undefined) | undefined;
  /** Header fields that tell of the rates that counted this request. */
  readonly headers: ((exchange: Exchange) => Readonly<Record<string, string>> | undefined) | undefined;
  /** Step 15, inside the change: uses quota. @throws {Refused} `limit.quota` */
  readonly spend: ((work: Work, exchange: Exchange) => void) | undefined;
}

/** What the events part does: records with a change, delivers after it. */
export interface Events {
  /** Inside a change: records the events that `work.stored` emits; neither exists without the other. */
  record(work: Work, caller: Caller | undefined): void;
  /** After a change was committed: there may be something to deliver. */
  recorded(): void;
  /** The stream, where a call is for it. */
  stream: ((call: Call) => Reply | Promise<Reply> | undefined) | undefined;
  stop(): Promise<void>;
}
