import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Dispatcher, Pool } from 'undici';
import type { Trouble } from './exchange.ts';
import type { Outgoing } from './plan.ts';

/** An answer as it came. */
export interface RawAnswer {
  readonly status: number;
  /** By names in lower case; several of one name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** More than we ever read: the answer is too large to be held to anything. */
class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** The whole answer was not there in time. */
export class Late extends Error {
  override readonly name = 'Late';
}

const bytesMax = 8 * 1024 * 1024;
/** How often it is looked whether the time is over. */
const tickMs = 500;

/**
 * Sends one request and reads its answer. Time is counted from beginning to end, so that an answer that comes byte by byte is not
 * waited for any longer than one that does not come. @throws {Late} @throws {TooLarge} and whatever breaks a connection
 */
export function ask(pool: Pool, { method, target, headers, body, isChunked }: Outgoing, timeoutMs: number): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const asking = new Asking(resolve, reject, timeoutMs);
    const sent = body === undefined ? null : isChunked ? Readable.from([body]) : body;
    // The cast holds: a method that undici has no name for is still sent as it is.
    pool.dispatch({ method: method as Dispatcher.HttpMethod, path: target, headers: { ...headers }, body: sent }, asking);
  });
}

/** What becomes of one request. */
class Asking implements Dispatcher.DispatchHandler {
  readonly #resolve: (raw: RawAnswer) => void;
  readonly #reject: (error: Error) => void;
  #timer: NodeJS.Timeout;
  #leftMs: number;
  readonly #chunks: Uint8Array[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #failed: Error | undefined;
  #status = 0;
  #headers: Record<string, string> = {};
  #length = 0;

  constructor(resolve: (raw: RawAnswer) => void, reject: (error: Error) => void, timeoutMs: number) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#leftMs = timeoutMs;
    this.#timer = this.#tick();
  }

  /** Time counts while one listens: what came while this machine did something else is read before anything is said to be late. */
  #tick(): NodeJS.Timeout {
    const ms = Math.max(1, Math.min(tickMs, this.#leftMs));
    return setTimeout(() => {
      this.#leftMs -= ms;
      if (this.#leftMs <= 0) this.#fail(new Late('no answer came in time'));
      else this.#timer = this.#tick();
    }, ms);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It has waited for a connection until nobody waited for it any more.
    if (this.#failed) controller.abort(this.#failed);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = status;
    this.#headers = plainHeaders(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > bytesMax) this.#fail(new TooLarge(`an answer of more than ${bytesMax} bytes`));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Uint8Array) : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, headers: this.#headers, bytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#timer);
    this.#reject(this.#failed ?? error);
  }

  #fail(error: Error): void {
    clearTimeout(this.#timer);
    this.#failed ??= error;
    this.#reject(this.#failed);
    this.#controller?.abort(this.#failed);
  }
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const plain: Record<string, string> = Object.create(null);
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

const everyMs = 100;

/** Whether somebody takes connections there again, within so many milliseconds. */
export async function listensWithin(origin: string, ms: number): Promise<boolean> {
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
export function troubleOf(error: unknown): Trouble {
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
