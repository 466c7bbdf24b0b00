import type { Json } from '../document/document.ts';
import type { Operation } from '../parts/operations.ts';
import type { Transaction } from '../store/store.ts';
import type { Work } from './acts/act.ts';
import type { Call, Caller, Exchange, Meant, Refusal, Reply } from './exchange.ts';

/** What the limits part does on a request's road; what is not there costs nothing. */
export interface CompiledLimits {
  /** Step 3: rates per address and for everyone, failed logins included. */
  readonly first: ((call: Call, plan: Pick<Meant, 'operation'>, nowMs: number) => Refusal | undefined) | undefined;
  /** Step 5: rates per caller and user. */
  readonly second: ((exchange: Exchange) => Refusal | undefined) | undefined;
  /** Header fields that tell of the rates that counted this request. */
  readonly headers: ((exchange: Exchange) => Readonly<Record<string, string>> | undefined) | undefined;
  /** Steps 8 to 15: carries out a request, and refuses it with `limit.time` where that takes too long. */
  readonly within: Within | undefined;
  /** Step 15, inside the change: uses the quotas of an operation; undefined where none counts it. */
  readonly spendOf: (operation: Operation) => Spend | undefined;
}

/** Carries out a request in the time that it has; an answer that is there at once is never late. */
export type Within = <Road extends Exchange>(
  exchange: Road,
  carryOut: (exchange: Road) => Reply | Promise<Reply>,
  readsBody: boolean,
) => Reply | Promise<Reply>;

/** Uses quota for an answer of this status. @throws {Refused} `limit.quota` where one is used up. */
export type Spend = (rows: Transaction, exchange: Exchange, status: number) => void;

/** An event that a handler emits. */
export interface Emitted {
  readonly kind: string;
  readonly data: Json;
}

/** What a change recorded, by the identifiers of subscribers: for whom there is something, and which of them it stored. */
export interface Recorded {
  readonly reached: ReadonlySet<string>;
  readonly subscribers: readonly string[];
}

/** What the events part does: records with a change, delivers after it. */
export interface Events {
  /** Inside a change: records the events that `work.stored` emits; neither exists without the other. */
  record(work: Work, caller: Caller | undefined, emitted?: readonly Emitted[]): Recorded | undefined;
  /** After a change was committed: there may be something to deliver of what it recorded. */
  recorded(recorded: Recorded | undefined): void;
  /** Answers `stream events`. */
  readonly open: (exchange: Exchange) => Reply | Promise<Reply>;
  /** Something may be due for a subscriber. */
  look(subscriber: string): void;
  /** Goes on with what an earlier process left. */
  resume(): Promise<void>;
  /** Resolves once nothing that is due is left to be sent. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}
