import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { type ClosingRules, keepConnections } from './connections.ts';
import { refuseConnection, refuseTunnel } from './malformed-requests.ts';
import { createServer } from './node-http.ts';
import { type Answering, type DoorOptions, SocketDoor } from './socket-door.ts';

export interface ListenOptions extends DoorOptions, ClosingRules {
  readonly port: number;
  readonly host: string;
  /** Whether the port is this process's alone, where several workers share what they listen on. */
  readonly isOwn?: boolean;
  /** Under what the connections of an address are counted; nothing where they are of many, such as those of a proxy. */
  readonly countedAs?: ((address: string) => string | undefined) | undefined;
}

/** Where a service listens. */
interface Listening {
  readonly url: string;
  readonly port: number;
  /** From now on each answer is the last of its connection, which its client is told. */
  leave(): void;
  /** Takes no new connections, answers what has come in, and ends. */
  close(): Promise<void>;
}

/** A listener for a server of node:http. What only a server sees, such as bytes that are no request, is for `listen`. */
export function createListener(answer: Answering, options: DoorOptions = {}): RequestListener {
  const door = new SocketDoor(answer, options);
  return (request, response) => door.take(request, response, false);
}

/** Listens on an address; rejects where it cannot be had. */
export function listen(answer: Answering, options: ListenOptions): Promise<Listening> {
  const door = new SocketDoor(answer, options);
  const server = serverOf(door);
  const connections = keepConnections(server, door.bounds, options.countedAs ?? (() => undefined));
  const leave = (): void => {
    door.isLeaving = true;
  };
  const close = (): Promise<void> => {
    // Whose connection ends makes a new one: it is told only once that is refused, unless there is no time left to tell it then.
    if (!options.restMs) leave();
    return connections.close(options, () => {
      leave();
      door.endStreams();
    });
  };
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: options.port, host: options.host, exclusive: options.isOwn === true }, () => {
      server.off('error', reject);
      // A connection that could not be taken, for want of file handles: the next one may be.
      server.on('error', (error) => options.onFailure?.(error));
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : options.port;
      resolve({ url: urlOf(options.host, port), port, leave, close });
    });
  });
}

function serverOf(door: SocketDoor): Server {
  const { bounds } = door;
  const server = createServer({
    maxHeaderSize: bounds.headerBytesMax + (bounds.urlBytesMax ?? 0),
    headersTimeout: bounds.headersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    // How late a timeout may be.
    connectionsCheckingInterval: Math.max(10, Math.min(1000, Math.floor(bounds.headersTimeoutMs / 4))),
    keepAliveTimeout: bounds.keepAliveTimeoutMs,
    optimizeEmptyRequests: true,
    // The door looks itself, so that the refusal has its stated shape.
    requireHostHeader: false,
  });
  // What is over it is cut off without a word, so one more is let in to be seen.
  server.maxHeadersCount = bounds.headerCountMax + 1;
  // A client may end its side after its request and still wait for the answer; the types do not know this property.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  server.on('request', (request, response) => door.take(request, response, false));
  server.on('checkContinue', (request, response) => door.take(request, response, true));
  server.on('checkExpectation', (request, response) => door.refuseExpectation(request, response));
  // A server that listens on a port hands over sockets and no other streams.
  server.on('clientError', (error, socket) => refuseConnection(door, socket as Socket, error));
  server.on('connect', (_request, socket) => refuseTunnel(door, socket as Socket));
  return server;
}

function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
