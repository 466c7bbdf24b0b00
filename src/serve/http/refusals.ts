/** What a door refuses by itself: what is too much, and what node:http could not make a request of. */

import type { Socket } from 'node:net';
import { part, type SocketBounds, underWay } from './bounds.ts';
import type { Reply } from './call.ts';
import { systemClock } from './clock.ts';
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from './node-http.ts';
import { headerList } from './send.ts';

/** Why a door itself turns a request away, before or instead of the answer. */
export type DoorRefusal = 'malformed' | 'headers too large' | 'url too large' | 'timeout' | 'expectation' | 'tunnel' | 'internal';

/** What each is as a refusal, so that it can be given the stated shape (RFC 9110 section 15.5, RFC 6585 section 5). */
export const doorRefusals = {
  malformed: { when: 'request.malformed', status: 400, message: 'This is not a request of HTTP/1.1.' },
  'headers too large': { when: 'limit.size.headers', status: 431, message: 'The headers are too many or too large.' },
  'url too large': { when: 'limit.size.url', status: 414, message: 'The target of the request is too long.' },
  timeout: { when: 'limit.time', status: 408, message: 'The request did not arrive in time.' },
  expectation: { when: 'request.malformed', status: 417, message: 'No expectation but 100-continue can be met.' },
  tunnel: { when: 'method.unsupported', status: 501, message: 'This is not a proxy.' },
  internal: { when: 'internal', status: 500, message: 'Something went wrong inside the service.' },
} as const satisfies Readonly<Record<DoorRefusal, { readonly when: string; readonly status: number; readonly message: string }>>;

/** Gives a refusal its stated shape; the path is empty where it was not understood. */
export type RefuseRaw = (kind: DoorRefusal, path: string) => Reply;

/** The shape where nobody states one (RFC 9457). */
export function ownDoorReply(kind: DoorRefusal): Reply {
  const { status, message } = doorRefusals[kind];
  const body = JSON.stringify({ type: 'about:blank', title: phrase(status), status, detail: message });
  return { status, headers: { 'content-type': 'application/problem+json' }, body };
}

/** The standard phrase of a status. */
export function phrase(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}

/** What refuses, with the stated shape, what node:http could not make a request of. */
interface RawDoor {
  readonly bounds: SocketBounds;
  refuse(kind: DoorRefusal, path: string): Reply;
}

/** Refuses what came in over a connection that cannot go on, after the replies to what was asked before, and ends it. */
export function refuseConnection(door: RawDoor, socket: Socket, error: Error): void {
  if (refused.has(socket) || socket.destroyed) return;
  if (!socket.writable || isGone(error)) {
    socket.destroy();
    return;
  }
  refused.add(socket);
  refuseInTurn(door, socket, kindOf(error, door.bounds));
}

/** Refuses and ends a connection that is asked to become a tunnel (RFC 9110 section 9.3.6). */
export function refuseTunnel(door: RawDoor, socket: Socket): void {
  // node:http lets go of such a connection, and of the errors that it may still have.
  socket.on('error', () => socket.destroy());
  refuseInTurn(door, socket, 'tunnel');
}

// A parser that has failed once fails again with all that follows.
const refused = new WeakSet<Socket>();

function refuseInTurn(door: RawDoor, socket: Socket, kind: DoorRefusal): void {
  const response = underWay(socket);
  if (response?.req.complete) {
    response.once('close', () => refuseInTurn(door, socket, kind));
    return;
  }
  if (socket.destroyed) return;
  // What was answered before its body came to a bad end is not answered twice.
  const isAnswered = response?.headersSent === true;
  const path = response?.req.url?.replace(/\?.*$/s, '') ?? '';
  part(socket, isAnswered ? undefined : refusalBytes(door, kind, path), door.bounds);
}

function refusalBytes(door: RawDoor, kind: DoorRefusal, path: string): Buffer {
  try {
    return rawBytes(door.refuse(kind, path));
  } catch {
    // A stated header that cannot be sent.
    return rawBytes(ownDoorReply(kind));
  }
}

function isGone(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE' || error.code === 'ETIMEDOUT');
}

function kindOf(error: Error & { code?: unknown; rawPacket?: unknown }, bounds: SocketBounds): DoorRefusal {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'timeout';
  if (error.code !== 'HPE_HEADER_OVERFLOW') return 'malformed';
  return isWithinTarget(error.rawPacket, bounds) ? 'url too large' : 'headers too large';
}

/** Whether it was the target that did not end, as far as the last packet shows. */
function isWithinTarget(packet: unknown, { headerBytesMax, urlBytesMax }: SocketBounds): boolean {
  if (!(packet instanceof Uint8Array)) return false;
  const start = Buffer.from(packet.buffer, packet.byteOffset, Math.min(packet.byteLength, headerBytesMax + (urlBytesMax ?? 0)));
  return /^[A-Z]+ [^\r\n]*$/.test(start.toString('latin1'));
}

function rawBytes(reply: Reply): Buffer {
  const { status, body } = reply;
  const list = headerList(reply);
  list.push('date', new Date(systemClock.now()).toUTCString(), 'connection', 'close');
  let head = `HTTP/1.1 ${status} ${phrase(status)}\r\n`;
  for (let at = 0; at < list.length; at += 2) {
    const [name, value] = [String(list[at]), String(list[at + 1])];
    validateHeaderName(name);
    validateHeaderValue(name, value);
    head += `${name}: ${value}\r\n`;
  }
  return Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), Buffer.from(body ?? '')]);
}
