import type { Dispatcher } from 'undici';
import { Pool } from 'undici';
import type { Json } from '../../document/document.ts';
import type { Trouble } from '../script/exchange.ts';
import type { Outgoing } from '../script/outgoing.ts';
import type { Budget } from './budget.ts';
import type { Clock } from './clock.ts';
import { parseBody } from './parse-body.ts';
import { troubleOf } from './trouble.ts';

/** What came back, and when by the service's clock. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: Json | undefined;
  readonly fromMs: number;
  readonly toMs: number;
  readonly trouble?: Trouble;
}

export interface ClientOptions {
  readonly origin: string;
  readonly connections: number;
  /** How long an answer is waited for. */
  readonly timeoutMs: number;
  readonly budget: Budget;
  readonly clock: Clock;
}

/** How one request is sent. */
export interface Sending {
  /** Whether a 429 comes back as it is. */
  readonly takesRefusalsOfRates?: boolean;
  /** Whether it comes on top of the requests that were given. */
  readonly isOnTop?: boolean;
}

const bytesMax = 8 * 1024 * 1024;
/** The longest that is waited for a rate to refill, in all of one request. */
const waitMsMax = 65_000;

/** Sends requests over connections that are kept, waits where a rate says so, and never throws: trouble is an answer too. */
export class Client {
  readonly #pool: Pool;
  readonly #options: ClientOptions;
  /** Troubles since the last answer. */
  #troubles = 0;
  #waitedMs = 0;
  readonly #closing: (() => Promise<void>)[] = [];
  #waiting: Promise<void> | undefined;
  /** When what was refused for longer than a request waits is given again, by the service's clock. */
  #owedUntilMs: number | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#pool = new Pool(options.origin, {
      connections: options.connections,
      pipelining: 1,
      headersTimeout: options.timeoutMs,
      bodyTimeout: options.timeoutMs,
      connectTimeout: options.timeoutMs,
      keepAliveTimeout: 2_000,
    });
  }

  /** Where everything is sent: scheme, host and port. */
  get origin(): string {
    return this.#options.origin;
  }

  /** How many requests in a row have had no answer. */
  get troublesInARow(): number {
    return this.#troubles;
  }

  /** How long rates were waited for, in all. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** How long it is until what was refused for longer than a request waits is given again; nothing where nothing was. */
  get owedMs(): number | undefined {
    if (this.#owedUntilMs === undefined) return undefined;
    return Math.max(0, this.#owedUntilMs - this.#options.clock.toService(Date.now()));
  }

  forgiveOwed(): void {
    this.#owedUntilMs = undefined;
  }

  async send(outgoing: Outgoing, { takesRefusalsOfRates = false, isOnTop = false }: Sending = {}): Promise<Answered> {
    for (let leftMs = waitMsMax; ; ) {
      this.#options.budget.take(isOnTop);
      const answered = await this.#once(outgoing);
      if (answered.status !== 429 || takesRefusalsOfRates) return answered;
      const waitMs = retryAfterMs(answered);
      if (waitMs === undefined) return answered;
      if (waitMs > leftMs) this.#owedUntilMs = Math.max(this.#owedUntilMs ?? 0, answered.toMs + waitMs);
      if (waitMs > leftMs || !this.#canWait(waitMs, isOnTop)) return answered;
      leftMs -= waitMs;
      this.#waitedMs += waitMs;
      await this.#wait(waitMs);
    }
  }

  /** Has something else closed with it, such as a receiver of web hooks. */
  closesWithIt(close: () => Promise<void>): void {
    this.#closing.push(close);
  }

  /** Several that wait for a clock that is moved wait for it together. */
  async #wait(ms: number): Promise<void> {
    if (this.#options.clock.advance === undefined) return this.#options.clock.wait(ms);
    this.#waiting ??= this.#options.clock.wait(ms).finally(() => {
      this.#waiting = undefined;
    });
    return this.#waiting;
  }

  /** A clock that can be moved makes every wait short. */
  #canWait(ms: number, isOnTop: boolean): boolean {
    const { budget, clock } = this.#options;
    return clock.advance !== undefined || budget.hasTime(ms, isOnTop);
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
    await Promise.all(this.#closing.map((close) => close()));
  }

  async #once({ method, target, headers, body }: Outgoing): Promise<Answered> {
    const { clock } = this.#options;
    const startMs = Date.now();
    const fromMs = clock.toService(startMs);
    const times = () => ({ fromMs, toMs: clock.latest(Date.now()) });
    try {
      const response = await this.#pool.request({
        // The cast holds: a method that undici has no name for is still sent as it is.
        method: method as Dispatcher.HttpMethod,
        path: target,
        headers: { ...headers },
        ...(body && { body }),
      });
      const bytes = await bytesOf(response.body);
      this.#troubles = 0;
      clock.learn(plainHeaders(response.headers).date, startMs, Date.now());
      const text = new TextDecoder().decode(bytes);
      const named = plainHeaders(response.headers);
      return {
        status: response.statusCode,
        ...{ headers: named, text, body: parseBody(text, named['content-type']), ...times() },
      };
    } catch (error) {
      this.#troubles += 1;
      return { status: 0, headers: {}, text: '', body: undefined, ...times(), trouble: troubleOf(error) };
    }
  }
}

/** More than we ever read: the answer is too large to be held to anything. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytesMax) throw new TooLarge(`an answer of more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

/** `Retry-After` in seconds or as a date (RFC 9110 section 10.2.3). */
function retryAfterMs({ headers }: Answered): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000 + 20;
  const ms = Date.parse(value) - Date.parse(headers.date ?? '');
  return Number.isFinite(ms) ? Math.max(0, ms) + 20 : undefined;
}
