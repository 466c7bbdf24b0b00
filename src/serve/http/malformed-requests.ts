import type { Socket } from 'node:net';
import type { SocketBounds } from './bounds.ts';
import type { Reply } from './call.ts';
import { systemClock } from './clock.ts';
import { part, underWay } from './disconnect.ts';
import { validateHeaderName, validateHeaderValue } from './node-http.ts';
import { type DoorRefusal, ownDoorReply, phrase } from './refusals.ts';
import { headerList } from './send.ts';

/** What refuses, with the stated shape, what node:http could not make a request of. */
export interface RawDoor {
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
