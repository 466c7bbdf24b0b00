import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection are answered at a time. While more wait, no more of it is read. */
const underWayMost = 64;

/** What one connection has sent ahead of its answers. */
interface Ahead {
  /** Requests that are being answered behind the first. */
  underWay: number;
  readonly waiting: (() => void)[];
  isHeld: boolean;
  /** The answer behind all others; nothing once it is the first. */
  newest: ServerResponse | undefined;
}

const ahead = new WeakMap<Socket, Ahead>();
/** Connections that end with an answer that is under way, or has just been given. */
const ending = new WeakSet<Socket>();

/**
 * Has a request answered: at once, or later where its connection sent many ahead of their answers, so that nobody has more of them at work
 * than that. One behind the last of its connection is not answered (RFC 9112 section 9.6).
 */
export function answerInTurn({ socket }: IncomingMessage, response: ServerResponse, answer: () => void): void {
  if (ending.has(socket)) return;
  // It has its connection at once unless an earlier answer has it.
  const isBehind = response.socket === null;
  if (!response.shouldKeepAlive) ending.add(socket);
  if (!isBehind) {
    answer();
    return;
  }
  const found = ahead.get(socket) ?? { underWay: 0, waiting: [], isHeld: false, newest: undefined };
  ahead.set(socket, found);
  found.newest = response;
  response.once('socket', () => {
    if (found.newest === response) found.newest = undefined;
    goOn(socket, found);
  });
  if (found.underWay < underWayMost) {
    found.underWay += 1;
    answer();
    return;
  }
  found.waiting.push(answer);
  if (found.isHeld) return;
  found.isHeld = true;
  socket.pause();
}

/**
 * Has a connection end with the answers that are under way: what comes by it from now on is not carried out.
 * @returns whether this answer is the last of them.
 */
export function endsWith(socket: Socket, response: ServerResponse): boolean {
  ending.add(socket);
  return (ahead.get(socket)?.newest ?? response) === response;
}

/** One that was behind is the first now: the next that waits takes its place. */
function goOn(socket: Socket, found: Ahead): void {
  const next = found.waiting.shift();
  if (next) {
    next();
    return;
  }
  found.underWay -= 1;
  if (!found.isHeld) return;
  found.isHeld = false;
  socket.resume();
}
