import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyBytes, ClientGone, endAfterBody, type SocketBounds, type SomeBounds, settleBounds } from './bounds.ts';
import type { Broken, Call, Reply, ReplyStream } from './call.ts';
import { type DoorRefusal, ownDoorReply, type RefuseRaw } from './refusals.ts';
import { answerInTurn, endsWith, halfOf, headerList, send, streamTo } from './send.ts';

/** What stands behind a door. */
export type Answering = (call: Call) => Reply | Promise<Reply>;

export interface DoorOptions extends SomeBounds {
  /** Gives what the door itself refuses its shape; a problem of RFC 9457 unless given. */
  readonly refuseRaw?: RefuseRaw | undefined;
  /** Called for what the answer throws, which callers see as `internal` alone. */
  readonly onFailure?: ((failure: unknown) => void) | undefined;
}

/** Takes requests of node:http to an answer, and its replies back. */
export class SocketDoor {
  readonly bounds: SocketBounds;
  /** Whether each reply is the last of its connection, but for those with others behind them. */
  isLeaving = false;
  #isClosing = false;
  readonly #answer: Answering;
  readonly #options: DoorOptions;
  readonly #streams = new Set<ServerResponse>();
  readonly #silent = new Set<ServerResponse>();

  constructor(answer: Answering, options: DoorOptions) {
    this.#answer = answer;
    this.#options = options;
    this.bounds = settleBounds(options);
  }

  /** Answers a request. A client that expects 100-continue is told to go on once its body is read. */
  take(request: IncomingMessage, response: ServerResponse, expectsContinue = false): void {
    answerInTurn(request, response, () => this.#take(new SocketCall(request, response, expectsContinue)));
  }

  #take(call: SocketCall): void {
    const { request } = call;
    const flaw = flawOf(request, this.bounds);
    if (flaw) {
      this.#write(call, this.refuse(flaw, call.path), true);
      return;
    }
    try {
      const reply = this.#answer(call);
      if (!(reply instanceof Promise)) this.#write(call, reply, this.#isLast(call));
      else reply.then((made) => this.#write(call, made, this.#isLast(call))).catch((failure) => this.#fail(call, failure));
    } catch (failure) {
      this.#fail(call, failure);
    }
  }

  /** Answers a request that expects something else (RFC 9110 section 10.1.1). */
  refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
    const call = new SocketCall(request, response, false);
    this.#write(call, this.refuse('expectation', call.path), true);
  }

  /** Gives a refusal its stated shape, or the standard's where that fails. */
  refuse(kind: DoorRefusal, path: string): Reply {
    const { refuseRaw, onFailure } = this.#options;
    try {
      return refuseRaw?.(kind, path) ?? ownDoorReply(kind);
    } catch (failure) {
      onFailure?.(failure);
      return ownDoorReply(kind);
    }
  }

  #write(call: SocketCall, reply: Reply, last: boolean): void {
    const { response, unreadBytes } = call;
    // The connection was refused or has ended in the meantime.
    if (response.headersSent || response.destroyed) return;
    if (reply.broken) {
      this.#break(response, reply, reply.broken);
      return;
    }
    if (reply.stream) {
      this.#stream(call, reply, reply.stream, last);
      return;
    }
    if (unreadBytes === 0) {
      send(response, reply, last, false);
      return;
    }
    const kept = !last && unreadBytes <= this.bounds.drainBytesMax;
    send(response, reply, !kept, true);
    endAfterBody(call.request, response, kept, this.bounds);
  }

  #isLast({ request, response }: SocketCall): boolean {
    return this.isLeaving && endsWith(request.socket, response);
  }

  #stream(call: SocketCall, reply: Reply, stream: ReplyStream, last: boolean): void {
    const { request, response } = call;
    if (call.unreadBytes > 0) request.resume();
    if (!stream.hasEnd) {
      this.#streams.add(response);
      response.once('close', () => this.#streams.delete(response));
    }
    streamTo(response, reply, stream, last);
    if (this.#isClosing && !stream.hasEnd) response.end();
  }

  /** Fails to bring a reply to its client, as it was asked to. */
  #break(response: ServerResponse, reply: Reply, broken: Broken): void {
    if (broken === 'silent') {
      this.#silent.add(response);
      response.once('close', () => this.#silent.delete(response));
      if (this.#isClosing) response.destroy();
      return;
    }
    const half = broken === 'truncated' && !reply.stream && halfOf(reply);
    if (!half) {
      response.destroy();
      return;
    }
    response.writeHead(reply.status, headerList(reply));
    response.write(half, () => response.destroy());
  }

  /** Ends the replies that would go on without an end, and those that would never come; from now on there are no others of them. */
  endStreams(): void {
    this.#isClosing = true;
    for (const response of this.#streams) response.end();
    for (const response of this.#silent) response.destroy();
  }

  #fail(call: SocketCall, failure: unknown): void {
    if (failure instanceof ClientGone) return;
    // A first attempt may have left its phrase.
    call.response.statusMessage = '';
    try {
      this.#write(call, this.refuse('internal', call.path), this.#isLast(call));
    } catch {
      this.#write(call, ownDoorReply('internal'), true);
    }
    this.#options.onFailure?.(failure);
  }
}

/** A request of node:http as a call; what few need is worked out when it is asked for. */
class SocketCall implements Call {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Call['headers'];
  readonly hasBody: boolean;
  readonly isDirect = true;
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
    this.headers = headers;
    this.hasBody = (length !== undefined && Number(length) !== 0) || headers['transfer-encoding'] !== undefined;
    this.request = request;
    this.response = response;
    this.#isWaiting = isWaiting;
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
    const length = this.headers['content-length'];
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
    const gathering = new BodyBytes(bytesMax);
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

/** What keeps a request that node:http took from being one to answer. */
function flawOf(request: IncomingMessage, { headerCountMax, urlBytesMax }: SocketBounds): DoorRefusal | undefined {
  const { rawHeaders, httpVersion } = request;
  if (rawHeaders.length > 2 * headerCountMax) return 'headers too large';
  if (urlBytesMax !== undefined && (request.url?.length ?? 0) > urlBytesMax) return 'url too large';
  // One Host, which only HTTP/1.0 may leave out (RFC 9112 section 3.2).
  const hosts = hostCount(rawHeaders);
  if (httpVersion === '1.1') return hosts === 1 ? undefined : 'malformed';
  return httpVersion === '1.0' && hosts <= 1 ? undefined : 'malformed';
}

function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) count++;
  }
  return count;
}

/** A request target's two halves, still encoded; the query is without its `?`. */
interface Target {
  readonly path: string;
  readonly query: string;
}

/**
 * Splits a request target in origin form, `/a?b`, or absolute form, `http://host/a?b`, which a server must also take
 * (RFC 9112 section 3.2). Anything else (`*`, an authority) comes back as a path that no route has.
 */
export function splitTarget(target: string): Target {
  let origin = target;
  if (target.charCodeAt(0) !== SLASH) {
    const absolute = ABSOLUTE.exec(target);
    if (absolute === null) return { path: target, query: '' };
    const rest = target.slice(absolute[0].length);
    origin = rest.charCodeAt(0) === SLASH ? rest : `/${rest}`;
  }
  const mark = origin.indexOf('?');
  if (mark === -1) return { path: origin, query: '' };
  return { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}

const SLASH = 47;
const ABSOLUTE = /^https?:\/\/[^/?#]+/i;
