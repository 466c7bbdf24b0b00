/** What protects the process at the socket: its bounds, and the ending of a connection so that what was written gets through. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What protects the process at the socket, whatever a document states. What is not given has a default. */
export interface SocketBounds {
  /** The header block as node:http counts it: names and values; with the target, where that has no bound of its own. */
  readonly headerBytesMax: number;
  readonly headerCountMax: number;
  /** The request target; within the header block unless given. */
  readonly urlBytesMax: number | undefined;
  /** From the connection, or the first byte of a later request, to the end of its header block. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to the last of its body; and how long a client may leave a reply untaken. */
  readonly requestTimeoutMs: number;
  /** How long a connection stays open with nothing asked. */
  readonly keepAliveTimeoutMs: number;
  /** How many connections are open at a time, over all. */
  readonly connectionsMax: number;
  /** How many of them come from one address; from this machine, where a proxy may stand, as many as there are. */
  readonly connectionsOfOneMax: number;
  /** How much of a body that nobody wants is read away so that the connection, or at least the reply, gets through. */
  readonly drainBytesMax: number;
  /** How long a connection that is to be closed is still read from, for the same reason. */
  readonly lingerMs: number;
}

/** Bounds as somebody gives them. */
export type SomeBounds = { readonly [Name in keyof SocketBounds]?: SocketBounds[Name] | undefined };

/** The bounds where nothing else is given. */
export const ownBounds: SocketBounds = {
  headerBytesMax: 16 * 1024,
  headerCountMax: 200,
  urlBytesMax: undefined,
  headersTimeoutMs: 30_000,
  requestTimeoutMs: 120_000,
  keepAliveTimeoutMs: 60_000,
  connectionsMax: 16_384,
  connectionsOfOneMax: 1_024,
  drainBytesMax: 16 * 1024 * 1024,
  lingerMs: 5_000,
};

export function settleBounds(given: SomeBounds): SocketBounds {
  const requestTimeoutMs = given.requestTimeoutMs ?? ownBounds.requestTimeoutMs;
  return {
    headerBytesMax: given.headerBytesMax ?? ownBounds.headerBytesMax,
    headerCountMax: given.headerCountMax ?? ownBounds.headerCountMax,
    urlBytesMax: given.urlBytesMax,
    headersTimeoutMs: Math.min(given.headersTimeoutMs ?? ownBounds.headersTimeoutMs, requestTimeoutMs),
    requestTimeoutMs,
    keepAliveTimeoutMs: given.keepAliveTimeoutMs ?? ownBounds.keepAliveTimeoutMs,
    connectionsMax: given.connectionsMax ?? ownBounds.connectionsMax,
    connectionsOfOneMax: given.connectionsOfOneMax ?? ownBounds.connectionsOfOneMax,
    drainBytesMax: given.drainBytesMax ?? ownBounds.drainBytesMax,
    lingerMs: given.lingerMs ?? ownBounds.lingerMs,
  };
}

/** The bounds in words, one line each, for a person who starts a service. */
export function doorBounds(given: SomeBounds = {}): string[] {
  const bounds = settleBounds(given);
  const target = bounds.urlBytesMax === undefined ? 'The target and the headers' : 'The headers';
  return [
    ...(bounds.urlBytesMax === undefined ? [] : [`The target of a request takes up to ${size(bounds.urlBytesMax)} (414).`]),
    `${target} take up to ${size(bounds.headerBytesMax)}, in ${bounds.headerCountMax} headers (431).`,
    `The headers of a request have ${time(bounds.headersTimeoutMs)} to arrive, the whole request ${time(bounds.requestTimeoutMs)} (408).`,
    `A reply that is not taken for ${time(bounds.requestTimeoutMs)} is cut off.`,
    `A connection on which nothing is asked for ${time(bounds.keepAliveTimeoutMs)} is closed.`,
    `${bounds.connectionsMax.toLocaleString('en')} connections are open at a time, ${bounds.connectionsOfOneMax.toLocaleString('en')} of them from one address; more are closed.`,
    `Of a body that is refused, up to ${size(bounds.drainBytesMax)} are read away before the connection is closed.`,
  ];
}

function size(bytes: number): string {
  if (bytes % 1024 ** 2 === 0) return `${bytes / 1024 ** 2} MiB`;
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`;
}

function time(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`;
}

/** The bytes of a body as they come in, bounded in number and in how many pieces they are kept. */
export class BodyBytes {
  readonly #bytesMax: number;
  readonly #joined: Buffer[] = [];
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes a piece; false where it is too much. */
  take(piece: Buffer): boolean {
    this.#bytes += piece.byteLength;
    if (this.#bytes > this.#bytesMax) return false;
    // A piece costs some two hundred bytes besides its own, and a client can send them of one byte each.
    if (this.#pieces.push(piece) === 1024) {
      this.#joined.push(Buffer.concat(this.#pieces));
      this.#pieces = [];
    }
    return true;
  }

  whole(): Buffer {
    const [first] = this.#pieces;
    if (first !== undefined && this.#pieces.length === 1 && this.#joined.length === 0) return first;
    return Buffer.concat([...this.#joined, ...this.#pieces], this.#bytes);
  }
}

/**
 * Ends a connection so that what was written gets through: to close while the client still sends would reset the
 * connection and take the reply with it (RFC 9112 section 9.6).
 */
export function part(socket: Socket, lastWords: Buffer | undefined, { drainBytesMax, lingerMs }: SocketBounds): void {
  if (lastWords) socket.end(lastWords);
  else socket.end();
  const cut = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(cut));
  let bytes = 0;
  socket.removeAllListeners('data');
  socket.on('data', (piece: Buffer) => {
    bytes += piece.byteLength;
    if (bytes > drainBytesMax) socket.destroy();
  });
  socket.resume();
}

/**
 * Ends a response whose reply is written, once the body that nobody wanted is read away. A connection that is kept waits
 * for all of it, as long as a request may take; one that is to be closed, up to the bounds.
 */
export function endAfterBody(request: IncomingMessage, response: ServerResponse, kept: boolean, bounds: SocketBounds): void {
  const end = (): void => void response.end();
  request.once('end', end);
  if (!kept) {
    const cut = setTimeout(end, bounds.lingerMs);
    response.once('close', () => clearTimeout(cut));
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      bytes += piece.byteLength;
      if (bytes > bounds.drainBytesMax) end();
    });
  }
  request.resume();
}

/** The response that a connection is busy with: node:http keeps it there, and looks at it in the same way. */
export function underWay(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** What reading a body ends in when the client went away or broke off: nobody waits for an answer any more. */
export class ClientGone extends Error {
  constructor(options?: ErrorOptions) {
    super('The client went away before its request was complete.', options);
  }
}
