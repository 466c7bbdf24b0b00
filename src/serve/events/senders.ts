import { JetStreams } from './jetstream.ts';
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
