import type { Store, Transaction } from '../../store/store.ts';
import { elapsedMs } from '../http/clock.ts';
import { type TracedCommit, type TracedRequest, traceChannels } from './traces.ts';

/** What an exchange has cost, for its line in the log. */
export interface ExchangeCost {
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

/** What of an exchange is measured or followed. */
export interface Watching {
  /** What it has cost, where that is noted down. */
  readonly cost: ExchangeCost | undefined;
  /** Where somebody follows it. */
  readonly trace: TracedRequest | undefined;
}

/** Whether what the exchange does to the store is to be measured or followed. */
export function isWatched({ cost, trace }: Watching): boolean {
  return cost !== undefined || trace !== undefined;
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
