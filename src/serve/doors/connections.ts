import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { underWay } from './parting.ts';

/** The open connections of a server. */
export interface Connections {
  /** Takes no new ones, ends those without a request at once and the others after it, and all of them after a while. */
  close(graceMs: number): Promise<void>;
}

/** Keeps count of a server's connections, and cuts those off whose clients take nothing for so long. */
export function keepConnections(server: Server, untakenMs: number): Connections {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // node:http takes a connection for idle while its last reply is still being sent.
  server.closeIdleConnections = () => {};
  const cutting = setInterval(() => cutStuck(sockets), untakenMs);
  cutting.unref();
  let closed: Promise<void> | undefined;
  return {
    close(graceMs) {
      closed ??= new Promise((resolve) => {
        const cut = setTimeout(() => {
          for (const socket of sockets) socket.destroy();
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
