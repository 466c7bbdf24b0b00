/** The brokers that events are published to, and how one of them takes an event. */

import type { JetStreamClient } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Post, type Posted, Posts, type Underway } from './posts.ts';

/** How long a broker that did not take something is left alone at first, and at the most, in seconds. */
const restSeconds = 1;
const restMostSeconds = 10;

/** Sends to receivers by HTTP, and to the broker as it is spoken to. One that fails is left alone for a while, longer each time. */
export class Senders {
  readonly #posts: Posts;
  #streams: JetStreams | undefined;
  #restSeconds = 0;

  /** Opens at most so many connections to one receiver. */
  constructor(connectionsMax: number) {
    this.#posts = new Posts(connectionsMax);
  }

  /** Sends; `done` is called once, and never before this returns. */
  send(post: Post, timeoutMs: number, done: (posted: Posted) => void): Underway {
    const { broker } = post;
    if (!broker) return this.#posts.send(post, timeoutMs, done);
    const took = (posted: Posted) => done(this.#rested(posted));
    if (broker.subject === undefined) return this.#posts.send(post, timeoutMs, took);
    this.#streams ??= new JetStreams();
    return this.#streams.send(post, took);
  }

  async close(): Promise<void> {
    await Promise.all([this.#posts.close(), this.#streams?.close()]);
  }

  #rested(posted: Posted): Posted {
    const { status = 0 } = posted;
    const isTaken = status >= 200 && status < 300;
    this.#restSeconds = isTaken ? 0 : Math.min(restMostSeconds, Math.max(restSeconds, 2 * this.#restSeconds));
    return isTaken ? posted : { ...posted, retryAfter: posted.retryAfter ?? String(this.#restSeconds) };
  }
}

/** How long a broker has to say that it has taken an event, and to be connected to. */
const ackMs = 5000;
const connectMs = 3000;

interface Connected {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly headersOf: (headers: Readonly<Record<string, string>>) => ReturnType<typeof import('@nats-io/transport-node').headers>;
}

/**
 * Publishes to JetStream, and waits until a stream has taken it. It is connected to when something is first published, and again where the
 * connection was given up; what was not taken is for the caller to publish again, under the same identifier.
 */
export class JetStreams {
  #connecting: Promise<Connected> | undefined;

  send(post: Post, done: (posted: Posted) => void): Underway {
    let isOver = false;
    const end = (status: number | undefined, error: string | undefined) => {
      if (isOver) return;
      isOver = true;
      done({ status, error, response: undefined, retryAfter: undefined });
    };
    this.#publish(post).then(
      () => end(200, undefined),
      (failure: unknown) => end(undefined, failure instanceof Error ? failure.message : String(failure)),
    );
    return { expire: (reason) => end(undefined, reason) };
  }

  async close(): Promise<void> {
    const connected = await this.#connecting?.catch(() => undefined);
    await connected?.connection.close();
  }

  async #publish({ url, headers, body, broker }: Post): Promise<void> {
    this.#connecting ??= connected(url);
    const connecting = this.#connecting;
    const { client, headersOf, connection } = await connecting.catch((failure: unknown) => {
      if (this.#connecting === connecting) this.#connecting = undefined;
      throw failure;
    });
    if (connection.isClosed() && this.#connecting === connecting) this.#connecting = undefined;
    await client.publish(broker?.subject ?? '', body, { headers: headersOf(headers), timeout: ackMs });
  }
}

async function connected(address: string): Promise<Connected> {
  const { connect, headers } = await import('@nats-io/transport-node');
  const { jetstream } = await import('@nats-io/jetstream');
  const { hostname, port, protocol, username, password } = new URL(address);
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const connection = await connect({
    servers: `${hostname}:${port || '4222'}`,
    name: 'ninefold',
    timeout: connectMs,
    maxReconnectAttempts: -1,
    ...(pass !== '' ? { user, pass } : user !== '' && { token: user }),
    ...(protocol === 'tls:' && { tls: {} }),
  });
  return {
    connection,
    client: jetstream(connection),
    headersOf(own) {
      const made = headers();
      for (const [name, value] of Object.entries(own)) made.set(name, value);
      return made;
    },
  };
}
