import type { ServerResponse } from 'node:http';
import type { Reply } from '../call.ts';

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
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304 || status < 200;
}

// A document can name headers of its own; these belong to the door.
const framing = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade']);

function byteLength(body: Reply['body']): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body === undefined ? 0 : body.byteLength;
}
