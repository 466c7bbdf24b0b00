import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { SocketBounds } from './bounds.ts';
import { underWay } from './disconnect.ts';
import { refuseConnection, refuseTunnel } from './malformed-requests.ts';
import { createServer } from './node-http.ts';
import { type Answering, type DoorOptions, SocketDoor } from './socket-door.ts';

export interface ListenOptions extends DoorOptions {
  readonly port: number;
  readonly host: string;
  /** Whether the port is this process's alone, where several workers share what they listen on. */
  readonly isOwn?: boolean;
  /** How long running requests have to finish at `close`; 10 s unless given. */
  readonly graceMs?: number | undefined;
  /** Told how many requests were not finished in that time, and were cut off. */
  readonly onCut?: ((requests: number) => void) | undefined;
  /** Under what the connections of an address are counted; nothing where they are of many, such as those of a proxy. */
  readonly countedAs?: ((address: string) => string | undefined) | undefined;
}

/** Where a service listens. */
interface Listening {
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets running requests finish, and ends. */
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
  const close = (): Promise<void> => {
    door.isClosing = true;
    door.endStreams();
    return connections.close(options.graceMs ?? 10_000, options.onCut);
  };
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: options.port, host: options.host, exclusive: options.isOwn === true }, () => {
      server.off('error', reject);
      // A connection that could not be taken, for want of file handles: the next one may be.
      server.on('error', (error) => options.onFailure?.(error));
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : options.port;
      resolve({ url: urlOf(options.host, port), port, close });
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

/** The open connections of a server. */
interface Connections {
  /** Takes no new ones, ends those without a request at once and the others after it, and all of them after a while. */
  close(graceMs: number, onCut: ListenOptions['onCut']): Promise<void>;
}

/** Keeps count of a server's connections, overall and by address, and cuts those off whose clients take nothing for so long. */
function keepConnections(
  server: Server,
  { requestTimeoutMs: untakenMs, connectionsMax, connectionsOfOneMax }: SocketBounds,
  countedAs: (address: string) => string | undefined,
): Connections {
  const sockets = new Set<Socket>();
  const byAddress = new Map<string, number>();
  server.maxConnections = connectionsMax;
  server.on('connection', (socket: Socket) => {
    const from = countedAs(socket.remoteAddress ?? '');
    const own = from === undefined ? 0 : (byAddress.get(from) ?? 0) + 1;
    if (own > connectionsOfOneMax) {
      socket.destroy();
      return;
    }
    if (from !== undefined) byAddress.set(from, own);
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      if (from === undefined) return;
      const left = (byAddress.get(from) ?? 1) - 1;
      if (left > 0) byAddress.set(from, left);
      else byAddress.delete(from);
    });
  });
  // node:http takes a connection for idle while its last reply is still being sent.
  server.closeIdleConnections = () => {};
  const cutting = setInterval(() => cutStuck(sockets), untakenMs);
  cutting.unref();
  let closed: Promise<void> | undefined;
  return {
    close(graceMs, onCut) {
      closed ??= new Promise((resolve) => {
        const cut = setTimeout(() => {
          let requests = 0;
          for (const socket of sockets) {
            if (underWay(socket)) requests += 1;
            socket.destroy();
          }
          if (requests > 0) onCut?.(requests);
        }, graceMs);
        server.close(() => {
          clearInterval(cutting);
          clearTimeout(cut);
          resolve();
        });
        for (const socket of sockets) endWhenIdle(socket);
      });
      return closed;
    },
  };
}

/** How much each connection had written when it was last seen to be behind. */
const behind = new WeakMap<Socket, number>();

function cutStuck(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) {
    if (socket.writableLength === 0) behind.delete(socket);
    else if (behind.get(socket) === socket.bytesWritten) socket.destroy();
    else behind.set(socket, socket.bytesWritten);
  }
}

function endWhenIdle(socket: Socket): void {
  const response = underWay(socket);
  if (response) response.once('close', () => endWhenIdle(socket));
  else socket.destroy();
}
