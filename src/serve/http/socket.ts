/** The socket that is listened on, and how the connections of its server are ended. */

import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { type SocketBounds, underWay } from './bounds.ts';
import { createServer } from './node-http.ts';
import { refuseConnection, refuseTunnel } from './refusals.ts';
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
  // Who mounts it may hand over more than a server does.
  return (request, response) => door.take(request, response);
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
  server.on('request', door.take.bind(door));
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

/** How the connections of a server are ended. */
interface ClosingRules {
  /** How long running requests have to finish at `close`; 10 s unless given. */
  readonly graceMs?: number | undefined;
  /** How long connections that rest are kept at `close`, for what their clients ask by them meanwhile; not at all unless given. */
  readonly restMs?: number | undefined;
  /** Told how many requests were not finished in that time, and were cut off. */
  readonly onCut?: ((requests: number) => void) | undefined;
}

/** The open connections of a server. */
interface Connections {
  /**
   * Takes no new ones, of which it tells, ends those by which nothing was asked and the others after their answers, and all of them after a
   * while.
   */
  close(rules: ClosingRules, takesNone: () => void): Promise<void>;
}

/** Keeps count of a server's connections, overall and by address, and cuts those off whose clients take nothing for so long. */
function keepConnections(
  server: Server,
  { requestTimeoutMs: untakenMs, connectionsMax, connectionsOfOneMax }: SocketBounds,
  countedAs: (address: string) => string | undefined,
): Connections {
  const sockets = new Set<Socket>();
  const byAddress = new Map<string, number>();
  let taken = 0;
  server.maxConnections = connectionsMax;
  server.on('connection', (socket: Socket) => {
    taken += 1;
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
  // And it ends one that has rested too long although a request may have come in while the process was busy.
  server.on('timeout', (socket: Socket) => endUnlessAsked(socket));
  const cutting = setInterval(() => cutStuck(sockets), untakenMs);
  cutting.unref();
  let closed: Promise<void> | undefined;
  const close: Connections['close'] = (rules, takesNone) => {
    closed ??= closeAll({ server, sockets, taken: () => taken }, rules, takesNone).finally(() => clearInterval(cutting));
    return closed;
  };
  return { close };
}

/** What a server has of connections. */
interface Open {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
  /** How many it has taken so far. */
  taken(): number;
}

function closeAll(
  { server, sockets, taken }: Open,
  { graceMs = graceMsUnlessGiven, restMs = 0, onCut }: ClosingRules,
  takesNone: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      let requests = 0;
      for (const socket of sockets) {
        if (underWay(socket)) requests += 1;
        socket.destroy();
      }
      if (requests > 0) onCut?.(requests);
    }, graceMs);
    const endAll = (): void => {
      for (const socket of sockets) endWhenIdle(socket);
    };
    // The machine has made connections that this process has not taken yet: to close before them would break them off.
    whenQuiet(taken, () => {
      const rest = restMs > 0 ? setTimeout(endAll, restMs) : undefined;
      server.close(() => {
        clearTimeout(cut);
        clearTimeout(rest);
        resolve();
      });
      takesNone();
      if (!rest) endAll();
    });
  });
}

const graceMsUnlessGiven = 10_000;

/** How much each connection had written when it was last seen to be behind. */
const behind = new WeakMap<Socket, number>();

function cutStuck(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) {
    if (socket.writableLength === 0) behind.delete(socket);
    else if (behind.get(socket) === socket.bytesWritten) socket.destroy();
    else behind.set(socket, socket.bytesWritten);
  }
}

/** Ends a connection after the answers that are under way, and after those to what has come in by it. */
function endWhenIdle(socket: Socket): void {
  const response = underWay(socket);
  if (response) {
    response.once('close', () => endWhenIdle(socket));
    return;
  }
  const read = () => socket.bytesRead;
  whenQuiet(read, () => {
    if (underWay(socket)) endWhenIdle(socket);
    else socket.destroy();
  });
}

/** Ends a connection that has rested, unless something has come in by it that this process was too busy to read. */
function endUnlessAsked(socket: Socket): void {
  const before = socket.bytesRead;
  afterARead(() => {
    if (socket.bytesRead === before && !underWay(socket)) socket.destroy();
  });
}

/** A client that sends on and on, or many that connect, are not waited for without end. */
const readsMost = 100;

/** Calls back once the process has read all that had come in, so that the count of it stays the same. */
function whenQuiet(count: () => number, then: () => void, reads = readsMost): void {
  const before = count();
  afterARead(() => {
    if (count() === before || reads === 0) then();
    else whenQuiet(count, then, reads - 1);
  });
}

/** Calls back once the event loop has taken in what had come when this was called: the first turn may be behind its reading already. */
function afterARead(then: () => void): void {
  setImmediate(() => setImmediate(then));
}
