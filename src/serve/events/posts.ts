import { type Dispatcher, Pool } from 'undici';
import type { StoredDelivery, StoredEvent } from '../../store/outbox.ts';
import { type TracedDelivery, traceChannels } from '../exchange/observations.ts';
import { publicConnector } from './addresses.ts';

/** One try: where to, with what. */
export interface Post {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether it may go to an address that is not public. */
  readonly isPrivate: boolean;
  /** Of what goes to the broker: where in it; nothing where its address alone says that. */
  readonly broker?: { readonly subject: string | undefined };
}

/** What came of it. */
export interface Posted {
  readonly status: number | undefined;
  readonly error: string | undefined;
  /** The beginning of what was answered. */
  readonly response: string | undefined;
  readonly retryAfter: string | undefined;
  /** Whether more was answered than was read, or its end was not waited for. */
  readonly isCut?: boolean;
  /** Whether it was answered otherwise than it has to be, whatever its status. */
  readonly isRefused?: boolean;
}

/** A try under way, which can be broken off. */
export interface Underway {
  /** Ends it with this as its error, unless it has ended. */
  expire(reason: string): void;
}

/** How much of an answer is read. */
const responseBytesMax = 20_000;
/** How many receivers are remembered with their connections. */
const originsMax = 512;

/** Sends by HTTP. Redirects are not followed, and answers are read up to a bound. */
export class Posts {
  readonly #addresses = new Map<string, URL | string>();
  readonly #pools = new Map<string, { readonly pool: Pool; busy: number }>();
  readonly #connectionsMax: number;

  /** Opens at most so many connections to one receiver. */
  constructor(connectionsMax: number) {
    this.#connectionsMax = connectionsMax;
  }

  /** Sends; `done` is called once, and never before this returns. */
  send({ method, url, headers, body, isPrivate }: Post, timeoutMs: number, done: (posted: Posted) => void): Underway {
    const target = this.#addressOf(url);
    if (typeof target === 'string') return failed(target, done);
    const entry = this.#poolOf(target.origin, timeoutMs, isPrivate);
    entry.busy += 1;
    const reading = new Reading((posted) => {
      entry.busy -= 1;
      done(posted);
    });
    try {
      entry.pool.dispatch(
        {
          path: `${target.pathname}${target.search}`,
          method,
          headers,
          body,
          headersTimeout: timeoutMs * 2,
          bodyTimeout: timeoutMs * 2,
        },
        reading,
      );
    } catch (error) {
      setImmediate(() => reading.fail(error));
    }
    return reading;
  }

  #addressOf(url: string): URL | string {
    let address = this.#addresses.get(url);
    if (address === undefined) {
      address = addressOf(url);
      if (this.#addresses.size >= originsMax) this.#addresses.clear();
      this.#addresses.set(url, address);
    }
    return address;
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(({ pool }) => pool.destroy()));
  }

  #poolOf(origin: string, timeoutMs: number, isPrivate: boolean) {
    const key = `${origin} ${timeoutMs} ${isPrivate}`;
    const found = this.#pools.get(key);
    if (found) return found;
    if (this.#pools.size >= originsMax) this.#dropIdle();
    const connect = publicConnector(isPrivate, timeoutMs);
    const pool = new Pool(origin, { connections: this.#connectionsMax, pipelining: 1, connect, maxHeaderSize: 16_384 });
    const entry = { pool, busy: 0 };
    this.#pools.set(key, entry);
    return entry;
  }

  #dropIdle(): void {
    for (const [key, { pool, busy }] of this.#pools) {
      if (busy > 0) continue;
      this.#pools.delete(key);
      void pool.close();
      if (this.#pools.size < originsMax / 2) return;
    }
  }
}

function addressOf(text: string): URL | string {
  const url = URL.parse(text);
  if (!url) return 'The address is no URL.';
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : `${url.protocol} is not sent to.`;
}

function failed(error: string, done: (posted: Posted) => void): Underway {
  setImmediate(done, { status: undefined, error, response: undefined, retryAfter: undefined });
  return { expire: () => {} };
}

/** Reads one answer. Its status decides; what follows it is only kept to be shown. */
class Reading implements Dispatcher.DispatchHandler, Underway {
  #done: ((posted: Posted) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isWhole = false;

  constructor(done: (posted: Posted) => void) {
    this.#done = done;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (!this.#done) controller.abort(new Error('It is too late.'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    const after = headers['retry-after'];
    this.#retryAfter = Array.isArray(after) ? after[0] : after;
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (!this.#done) return;
    const room = responseBytesMax - this.#bytes;
    this.#pieces.push(piece.byteLength > room ? Buffer.from(piece.subarray(0, room)) : piece);
    this.#bytes += piece.byteLength;
    if (this.#bytes <= responseBytesMax) return;
    this.#settle(undefined);
    controller.abort(new Error('The answer is too long.'));
  }

  onResponseEnd(): void {
    this.#isWhole = true;
    this.#settle(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    this.#settle(this.#status === undefined ? wordsOf(error) : undefined);
  }

  expire(reason: string): void {
    if (!this.#done) return;
    this.#settle(this.#status === undefined ? reason : undefined);
    this.#controller?.abort(new Error(reason));
  }

  #settle(error: string | undefined): void {
    const done = this.#done;
    this.#done = undefined;
    const response = this.#bytes === 0 ? undefined : Buffer.concat(this.#pieces).toString('utf8');
    this.#pieces = [];
    done?.({ status: this.#status, error, response, retryAfter: this.#retryAfter, ...(!this.#isWhole && { isCut: true }) });
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = 'errors' in error && Array.isArray(error.errors) ? error.errors[0] : undefined;
  return (cause instanceof Error ? cause.message : error.message) || ('code' in error ? String(error.code) : error.name);
}

type Sending = Pick<Posts, 'send'>;

/** Sends one try as part of the trace that its event came of, where anybody follows: the receiver is told which it is. */
export function traced(posts: Sending, event: StoredEvent, delivery: StoredDelivery): Sending {
  const { deliveryStart, deliveryEnd } = traceChannels;
  if (!deliveryStart.hasSubscribers) return posts;
  return {
    send(post, timeoutMs, done) {
      const told: TracedDelivery = {
        event: event.id,
        kind: event.kind,
        subscriber: delivery.subscriber,
        // The address of a broker may have a password in it.
        url: post.broker ? (post.broker.subject ?? 'broker') : post.url,
        attempt: delivery.tries + 1,
        traceparent: event.trace,
      };
      deliveryStart.publish(told);
      const { traceparent } = told;
      const headers = traceparent === undefined ? post.headers : { ...post.headers, traceparent };
      return posts.send({ ...post, headers }, timeoutMs, (posted) => {
        told.status = posted.status;
        told.error = posted.error;
        deliveryEnd.publish(told);
        done(posted);
      });
    },
  };
}
