import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { SocketBounds } from './bounds.ts';

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
