import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Json } from '../../document/document.ts';
import type { Trouble } from '../script/exchange.ts';
import type { Outgoing } from '../script/outgoing.ts';
import { ask, Late, TooLarge } from './ask.ts';
import { type Budget, Spent } from './budget.ts';
import type { ServiceClock } from './clock.ts';
import { parseBody } from './parse-body.ts';
import { retryAfterMs } from './retry-after.ts';

/** What came back, and when by the service's clock. */
interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: Json | undefined;
  readonly fromMs: number;
  readonly toMs: number;
  readonly trouble?: Trouble;
}

interface ClientOptions {
  readonly origin: string;
  readonly connections: number;
  /** How long a whole answer is waited for. */
  readonly timeoutMs: number;
  readonly budget: Budget;
  readonly clock: ServiceClock;
  /** How long is waited where a refusal does not say: until the stated rates begin anew. */
  readonly rateWindowMs?: number;
}

/** How one request is sent. */
export interface Sending {
  /** Whether a 429 comes back as it is. */
  readonly takesRefusalsOfRates?: boolean;
  /** Whether it comes on top of the requests that were given. */
  readonly isOnTop?: boolean;
}

/** The longest that is waited for a rate to refill, in all of one request. */
const waitMsMax = 65_000;
/** How long a service that was there, and takes no connections any more, is waited for. */
const revivalMs = 3_000;

/** What is waited beyond that: clocks are read to the second. */
const marginMs = 20;

/** Sends requests over connections that are kept, waits where a rate says so, and takes trouble for an answer too. */
export class Client {
  readonly #pool: Pool;
  readonly #options: ClientOptions;
  /** Troubles since the last answer. */
  #troubles = 0;
  #waitedMs = 0;
  #hasAnswered = false;
  readonly #closing: (() => Promise<void>)[] = [];
  #waiting: Promise<void> | undefined;
  /** When what was refused for longer than a request waits is given again, by the service's clock. */
  #owedUntilMs: number | undefined;
  #revival: Promise<boolean> | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#pool = new Pool(options.origin, {
      connections: options.connections,
      pipelining: 1,
      connectTimeout: options.timeoutMs,
      keepAliveTimeout: 2_000,
      // The time of a whole answer is what counts.
      headersTimeout: 0,
      bodyTimeout: 0,
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

  /** @throws {Spent} */
  async send(outgoing: Outgoing, { takesRefusalsOfRates = false, isOnTop = false }: Sending = {}): Promise<Answered> {
    let guessMs = this.#options.rateWindowMs;
    for (let leftMs = waitMsMax; ; ) {
      const answered = await this.#reaching(outgoing, isOnTop);
      if (answered.status !== 429 || takesRefusalsOfRates) return answered;
      const toldMs = retryAfterMs(answered);
      const waitMs = toldMs === undefined ? guessMs : toldMs + marginMs;
      if (waitMs === undefined) return answered;
      // Where that was not long enough, it was something else than a rate.
      guessMs = undefined;
      if (waitMs > leftMs) this.#owedUntilMs = Math.max(this.#owedUntilMs ?? 0, answered.toMs + waitMs);
      if (waitMs > leftMs || !this.#canWait(waitMs, isOnTop)) return answered;
      leftMs -= waitMs;
      this.#waitedMs += waitMs;
      await this.#wait(waitMs);
    }
  }

  /** What is no request is waited for no longer than there is time. @throws {Spent} */
  async within<T>(act: Promise<T>, isOnTop = false): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const ends = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Spent('the time is used up')), Math.max(0, this.#options.budget.leftMs(isOnTop)));
    });
    return Promise.race([act, ends]).finally(() => clearTimeout(timer));
  }

  /** Has something else closed with it, such as a receiver of web hooks. */
  closesWithIt(close: () => Promise<void>): void {
    this.#closing.push(close);
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
    await Promise.all(this.#closing.map((close) => close()));
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
    return clock.advance !== undefined || ms < budget.leftMs(isOnTop);
  }

  /** A service that starts again is waited for: what it took no connection for has not reached it. */
  async #reaching(outgoing: Outgoing, isOnTop: boolean): Promise<Answered> {
    const answered = await this.#once(outgoing, isOnTop);
    if (answered.trouble?.kind !== 'refused' || !this.#hasAnswered) return answered;
    const { budget, origin } = this.#options;
    this.#revival ??= listensWithin(origin, Math.min(revivalMs, budget.leftMs(isOnTop)));
    return (await this.#revival) ? this.#once(outgoing, isOnTop) : answered;
  }

  async #once(outgoing: Outgoing, isOnTop: boolean): Promise<Answered> {
    const { clock, budget, timeoutMs } = this.#options;
    budget.take(isOnTop);
    const leftMs = budget.leftMs(isOnTop);
    const startMs = Date.now();
    const fromMs = clock.toService(startMs);
    const times = () => ({ fromMs, toMs: clock.latest(Date.now()) });
    try {
      const { status, headers, bytes } = await ask(this.#pool, outgoing, Math.min(timeoutMs, leftMs));
      this.#troubles = 0;
      this.#hasAnswered = true;
      this.#revival = undefined;
      clock.learn(headers.date, startMs, Date.now());
      const text = decoder.decode(bytes);
      return { status, headers, text, body: parseBody(text, headers['content-type']), ...times() };
    } catch (error) {
      // That our own time was over says nothing of the service.
      if (error instanceof Late && leftMs < timeoutMs) throw new Spent('the time is used up');
      this.#troubles += 1;
      return { status: 0, headers: {}, text: '', body: undefined, ...times(), trouble: troubleOf(error) };
    }
  }
}

const decoder = new TextDecoder();

const everyMs = 100;

/** Whether somebody takes connections there again, within so many milliseconds. */
async function listensWithin(origin: string, ms: number): Promise<boolean> {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const endMs = Date.now() + ms;
  while (Date.now() < endMs) {
    await pause(everyMs);
    if (await isListening(host, Number(port || (protocol === 'https:' ? 443 : 80)), everyMs)) return true;
  }
  return false;
}

function isListening(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const done = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('connect', () => done(true));
    socket.on('timeout', () => done(false));
    socket.on('error', () => done(false));
  });
}

/** What kept an answer from coming, in words for people. */
function troubleOf(error: unknown): Trouble {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof TooLarge) return { kind: 'too large', message };
  if (error instanceof Late) return { kind: 'timed out', message };
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
    return { kind: 'refused', message: 'the connection was refused' };
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return { kind: 'timed out', message: 'no answer came in time' };
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW' || error instanceof TypeError)
    return { kind: 'garbage', message: `the answer was no HTTP (${message})` };
  return { kind: 'broken off', message: `the connection was broken off (${message})` };
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? codeOf(error.cause) : '';
}
