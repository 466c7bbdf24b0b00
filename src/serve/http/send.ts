/** How replies go out: those of one connection in turn, and each as it is written. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Json } from '../../document/document.ts';
import type { Reply, ReplyReader, ReplyStream } from './call.ts';

/** Writes a reply; `last` closes the connection after it, `held` leaves it to the caller to end the response. */
export function send(response: ServerResponse, reply: Reply, last: boolean, held: boolean): void {
  const { status, body } = reply;
  const headers = headerList(reply);
  if (last) headers.push('connection', 'close');
  response.writeHead(status, headers);
  const text = response.req.method === 'HEAD' ? undefined : body;
  if (!held) {
    // A text as long as its bytes is ASCII, which latin1 copies where UTF-8 has to be made.
    if (typeof text === 'string' && headers.at(-1) === text.length) response.end(text, 'latin1');
    else response.end(text);
    return;
  }
  if (text === undefined || text.length === 0 || isBodiless(status)) response.flushHeaders();
  else response.write(text);
}

/** The headers of a reply, name after value, with those that part it from the next one (RFC 9112 section 6). */
export function headerList({ status, headers, body, bodyLength }: Reply): (string | number)[] {
  const list: (string | number)[] = [];
  for (const name in headers) if (!framing.has(name)) list.push(name, headers[name]!);
  if (!isBodiless(status)) list.push('content-length', bodyLength ?? byteLength(body));
  return list;
}

/** Statuses after which nothing follows, so that no length is told (RFC 9110 section 8.6). */
function isBodiless(status: number): boolean {
  return status === 204 || status === 304 || status < 200;
}

// A document can name headers of its own; these belong to the door.
const framing = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade']);

function byteLength(body: Reply['body']): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body === undefined ? 0 : body.byteLength;
}

/** The first half of a reply's body; nothing where there are not two bytes to part. */
export function halfOf({ body }: Reply): Uint8Array | undefined {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return bytes && bytes.byteLength > 1 ? bytes.subarray(0, bytes.byteLength >> 1) : undefined;
}

/** The header fields of a reply whose length nobody knows. */
function endlessHeaders(reply: Reply): (string | number)[] {
  return headerList(reply).slice(0, -2);
}

/** Writes a reply that goes on over a connection, until one side ends it; `last` closes the connection after it. Nothing else is asked over that connection meanwhile. */
export function streamTo(response: ServerResponse, reply: Reply, stream: ReplyStream, last: boolean): void {
  const headers = endlessHeaders(reply);
  if (last) headers.push('connection', 'close');
  response.writeHead(reply.status, headers);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  let reader: ReplyReader | undefined;
  response.on('drain', () => reader?.drained());
  response.once('close', () => reader?.gone());
  reader = stream.start({
    write(piece) {
      response.write(piece);
      return response.writableLength;
    },
    isFull: () => response.writableNeedDrain,
    end: () => void response.end(),
    cut: () => void response.destroy(),
  });
  if (response.destroyed) reader.gone();
}

/** The body of a reply that goes on, for a `Response`. */
export function streamBody(stream: ReplyStream): ReadableStream<Uint8Array> {
  let reader: ReplyReader | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const room = () => controller.desiredSize ?? 0;
        let isOver = false;
        const finish = (end: () => void) => {
          if (isOver) return;
          isOver = true;
          end();
          reader?.gone();
        };
        reader = stream.start({
          write(piece) {
            if (!isOver) controller.enqueue(piece);
            return Math.max(0, fetchBytesMost - room());
          },
          isFull: () => room() <= 0,
          end: () => finish(() => controller.close()),
          cut: () => finish(() => controller.error(new Error('The reader is too slow.'))),
        });
      },
      pull: () => reader?.drained(),
      cancel: () => reader?.gone(),
    },
    { highWaterMark: fetchBytesMost, size: (piece) => piece?.byteLength ?? 0 },
  );
}

/** How much waits for a reader in process before it counts as full. */
const fetchBytesMost = 64 * 1024;

/**
 * A text as the value of a header field (RFC 9110 section 5.5): whatever cannot stand in one, line breaks and letters beyond ASCII
 * above all, is written as its bytes in percent.
 */
export function headerText(text: string): string {
  return unfit.test(text) ? text.toWellFormed().replace(unfitAll, encodeURIComponent) : text;
}

// What the door could not send, and would refuse after the change is made.
const unfit = /[^\t\x20-\x7e]/u;
const unfitAll = /[^\t\x20-\x7e]/gu;

/** Adds header fields; two sources of links are one list (RFC 8288 section 3). */
export function addHeaders(headers: Record<string, string>, more: Readonly<Record<string, string>> | undefined): void {
  if (!more) return;
  for (const name in more) {
    const [known, value] = [headers[name], more[name] as string];
    if (known === undefined) headers[name] = value;
    else if (name === 'link' || name === 'vary') headers[name] = `${known}, ${value}`;
  }
}

/** The answer of a door that stands beside the service, for those who run it or try it. */
export function doorReply(status: number, body: Json): Reply {
  return { status, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body: JSON.stringify(body) };
}

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
