import type { Work } from './acts/act.ts';
import type { Engine } from './engine.ts';
import type { Call, Caller, Reply } from './exchange.ts';

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

/** Starts the delivery of events; none is sent yet. */
export function startEvents(_engine: () => Engine): Events {
  return { record: () => {}, recorded: () => {}, stream: undefined, stop: async () => {} };
}
