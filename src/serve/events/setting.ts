import type { Json } from '../../document/document.ts';
import type { Credentials } from '../callers/credentials.ts';
import type { PromiseOrValue } from '../exchange/after.ts';
import type { Versions } from '../exchange/compilation.ts';
import type { Caller, Exchange, Fields, Recorded } from '../exchange/exchange.ts';
import type { Call, Reply } from '../http/call.ts';
import type { Surroundings } from '../http/clock.ts';
import type { Stored, Work } from '../resources/act.ts';
import type { RowModel } from '../resources/model.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';
import type { UndeliveredTelling } from './undelivered.ts';

/** What events need of the service that they are part of. */
export interface EventsSetting extends Surroundings, Stored {
  readonly compilation: ViewCompilation;
  /** The versions that the document lists. */
  readonly versions: Versions | undefined;
  readonly events: EventsPart;
  /** The keys that were given out, of which a subscriber's maker may have lost its own. */
  readonly credentials: Credentials;
  /** Told of receivers that fail. */
  readonly undelivered: UndeliveredTelling;
  readonly limits: { readonly addressOf: (call: Call) => string };
  /** Whether requests in doubt are let through. */
  readonly acceptsOpen: boolean;
}

/** What the events part does: records with a change, delivers after it. */
export interface EventsPart {
  /** Inside a change: records the events that `work.stored` emits; neither exists without the other. */
  record(work: Work, caller: Caller | undefined, emitted?: readonly Emitted[]): Recorded | undefined;
  /** Inside a change of the clock's: records that a time of a row has come. */
  recordTimed(work: Work, kind: string, row: TimedRow): Recorded | undefined;
  /** After a change was committed: there may be something to deliver of what it recorded. */
  recorded(recorded: Recorded | undefined): void;
  /** Answers `stream events`. */
  readonly open: (exchange: Exchange) => PromiseOrValue<Reply>;
  /** Something may be due for a subscriber. */
  look(subscriber: string): void;
  /** Goes on with what an earlier process left. */
  resume(): Promise<void>;
  /** Resolves once nothing that is due is left to be sent. */
  settled(): Promise<void>;
  stop(): Promise<void>;
  /** Another process that has the store recorded events, or changed subscribers. */
  changedElsewhere(areSubscribers: boolean): void;
  /** Whether this process is the one that sends to subscribers; it is, until it is told otherwise. */
  become(isMine: boolean): Promise<void>;
}

/** An event that a handler emits. */
export interface Emitted {
  readonly kind: string;
  readonly data: Json;
}

/** A row of which the clock tells. */
export interface TimedRow {
  readonly model: RowModel;
  readonly id: string;
  readonly fields: Fields;
}
