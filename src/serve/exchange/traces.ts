import { channel } from 'node:diagnostics_channel';
import type { Call } from '../http/call.ts';

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

/** Begins to follow a request, where anybody does. */
export function traceRequest(call: Call, operation: string, endpoint: string): TracedRequest | undefined {
  const { requestStart } = traceChannels;
  if (!requestStart.hasSubscribers) return undefined;
  const told: TracedRequest = { call, operation, endpoint, traceparent: undefined };
  requestStart.publish(told);
  return told;
}

/** The identifier of the trace that a `traceparent` is of; nothing where it is none. */
export function traceOf(traceparent: string | undefined): string | undefined {
  return traceparent === undefined ? undefined : parent.exec(traceparent)?.[1];
}

/** Version 00: trace, parent and flags, in lower case. */
const parent = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;
