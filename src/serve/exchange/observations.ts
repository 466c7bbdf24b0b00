/** What is observed of an exchange: what it cost, and the trace that it is part of. */

import { channel } from 'node:diagnostics_channel';
import type { Store, Transaction } from '../../store/store.ts';
import type { Call } from '../http/call.ts';
import { elapsedMs } from '../http/clock.ts';

/** What an exchange has cost, for its line in the log. */
interface ExchangeCost {
  /** How long it waited for the store. */
  storeMs: number;
  /** How many rows it stored, or a list gave. */
  rows: number | undefined;
  /** How many changes went to disk with its own. */
  batch: number | undefined;
}

export function newCost(): ExchangeCost {
  return { storeMs: 0, rows: undefined, batch: undefined };
}

/** What of an exchange is measured or followed: where there is neither, what it does to the store is not looked at. */
export interface Watching {
  /** What it has cost, where that is noted down. */
  readonly cost: ExchangeCost | undefined;
  /** Where somebody follows it. */
  readonly trace: TracedRequest | undefined;
}

/** Reads, and notes down how long that took. */
export function readWatched<T>(exchange: Watching, read: () => T | Promise<T>): T | Promise<T> {
  const began = elapsedMs();
  const done = (value: T): T => {
    if (exchange.cost) exchange.cost.storeMs += elapsedMs() - began;
    return value;
  };
  const found = read();
  return found instanceof Promise ? found.then(done) : done(found);
}

/** Changes, notes down how long that took and with how many others, and tells who follows the request. */
export async function changeWatched<T>(exchange: Watching, store: Store, body: (rows: Transaction) => T): Promise<T> {
  const { cost, trace } = exchange;
  const commit: TracedCommit | undefined = trace && { request: trace };
  const began = elapsedMs();
  let batch: number | undefined;
  if (commit) traceChannels.commitStart.publish(commit);
  try {
    return await store.change((rows) => {
      batch = rows.batch;
      return body(rows);
    });
  } catch (failure) {
    if (commit) commit.failure = failure;
    throw failure;
  } finally {
    if (cost) {
      cost.storeMs += elapsedMs() - began;
      cost.batch = batch;
    }
    if (commit) {
      commit.batch = batch;
      traceChannels.commitEnd.publish(commit);
    }
  }
}

/** A request that is followed. Whoever follows it may say how others go on with it. */
export interface TracedRequest {
  readonly call: Call;
  readonly operation: string;
  /** `GET /notes/{id}`. */
  readonly endpoint: string;
  /** How what comes of the request names it (W3C Trace Context, section 3.2): set by who follows it. */
  traceparent: string | undefined;
  /** The status of its answer, and its error's code or condition, once it is answered. */
  status?: number;
  refused?: string | undefined;
}

/** A change of a request that is followed, from its being asked of the store to its being on disk. */
export interface TracedCommit {
  readonly request: TracedRequest;
  /** How many changes went to disk with it. */
  batch?: number | undefined;
  /** Why it failed, where it did. */
  failure?: unknown;
}

/** One try to deliver an event of a request that was followed, or of any. */
export interface TracedDelivery {
  readonly event: string;
  readonly kind: string;
  readonly subscriber: string;
  readonly url: string;
  /** The first is 1. */
  readonly attempt: number;
  /** Of the event at first; of this try once who follows it has said so. */
  traceparent: string | undefined;
  status?: number | undefined;
  error?: string | undefined;
}

/** Where it is told of, by the name of `node:diagnostics_channel`: nothing is made, and nothing published, for nobody. */
export const traceChannels = {
  requestStart: channel('ninefold:request:start'),
  requestEnd: channel('ninefold:request:end'),
  commitStart: channel('ninefold:commit:start'),
  commitEnd: channel('ninefold:commit:end'),
  deliveryStart: channel('ninefold:delivery:start'),
  deliveryEnd: channel('ninefold:delivery:end'),
};

/** Begins to follow a request, for whoever listens to `requestStart`. */
export function traceRequest(call: Call, operation: string, endpoint: string): TracedRequest {
  const told: TracedRequest = { call, operation, endpoint, traceparent: undefined };
  traceChannels.requestStart.publish(told);
  return told;
}

/** The identifier of the trace that a `traceparent` is of; nothing where it is none. */
export function traceOf(traceparent: string | undefined): string | undefined {
  return traceparent === undefined ? undefined : parent.exec(traceparent)?.[1];
}

/** Version 00: trace, parent and flags, in lower case. */
const parent = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;
