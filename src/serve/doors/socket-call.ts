import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Call } from '../call.ts';
import { splitTarget } from '../wire/target.ts';
import { ClientGone } from './client-gone.ts';
import { Gathering } from './gathering.ts';

/** A request of node:http as a call; what few need is worked out when it is asked for. */
export class SocketCall implements Call {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly hasBody: boolean;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the client waits to be told to send its body (RFC 9110 section 10.1.1). */
  #isWaiting: boolean;
  /** Whether all of the body was read, of which node:http may not know yet. */
  #isTaken = false;
  #body: Promise<Buffer | 'too large'> | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, isWaiting: boolean) {
    // A parsed request has both.
    const target = splitTarget(request.url as string);
    this.method = request.method as string;
    this.path = target.path;
    this.query = target.query;
    const { headers } = request;
    const length = headers['content-length'];
    this.hasBody = (length !== undefined && Number(length) !== 0) || headers['transfer-encoding'] !== undefined;
    this.request = request;
    this.response = response;
    this.#isWaiting = isWaiting;
  }

  get headers(): Call['headers'] {
    return this.request.headers;
  }

  repeats(name: string): boolean {
    const { rawHeaders } = this.request;
    let count = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const other = rawHeaders[at]!;
      if (other.length === name.length && other.toLowerCase() === name) count++;
    }
    return count > 1;
  }

  get headerBytes(): number {
    const { rawHeaders } = this.request;
    // Each line has a colon, a blank and a line end besides.
    let bytes = rawHeaders.length * 2;
    for (const text of rawHeaders) bytes += text.length;
    return bytes;
  }

  get address(): string {
    const address = this.request.socket.remoteAddress ?? '';
    return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  }

  body(bytesMax: number): Promise<Buffer | 'too large'> | Buffer {
    if (!this.hasBody) return nothing;
    this.#body ??= this.#read(bytesMax);
    return this.#body;
  }

  /** How many bytes of the body may still be on their way: none, a declared number at the most, or nobody knows. */
  get unreadBytes(): number {
    // A client that was not told to send its body sends none after a final reply.
    if (!this.hasBody || this.request.complete || this.#isTaken || this.#isWaiting) return 0;
    return this.#declaredBytes ?? Number.POSITIVE_INFINITY;
  }

  get #declaredBytes(): number | undefined {
    const length = this.request.headers['content-length'];
    return length === undefined ? undefined : Number(length);
  }

  async #read(bytesMax: number): Promise<Buffer | 'too large'> {
    const { request } = this;
    const declared = this.#declaredBytes;
    if (declared !== undefined && declared > bytesMax) return 'too large';
    if (this.#isWaiting) this.response.writeContinue();
    this.#isWaiting = false;
    // A small body comes with its head, and is there in whole once the parser is through with what came: then it is taken at once.
    await undefined;
    if (declared === undefined || request.readableLength < declared || request.destroyed) return gather(request, bytesMax);
    this.#isTaken = true;
    return request.read() ?? nothing;
  }
}

const nothing = Buffer.alloc(0);

function gather(request: IncomingMessage, bytesMax: number): Promise<Buffer | 'too large'> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(new ClientGone());
    const gathering = new Gathering(bytesMax);
    const take = (piece: Buffer): void => {
      if (gathering.take(piece)) return;
      request.off('data', take);
      request.pause();
      resolve('too large');
    };
    request.on('data', take);
    request.on('end', () => resolve(gathering.whole()));
    // Without a listener the error of a client that breaks off is not told; the connection's end is, in any case.
    request.on('close', () => {
      if (!request.readableEnded) reject(new ClientGone());
    });
  });
}
