import { BodyBytes, ClientGone } from './bounds.ts';
import type { Broken, Call, Reply } from './call.ts';
import { ownDoorReply, type RefuseRaw } from './refusals.ts';
import { halfOf, headerList, streamBody } from './send.ts';
import { splitTarget } from './socket-door.ts';

export interface FetchDoorOptions {
  /** Gives a failure its shape; a problem of RFC 9457 unless given. */
  readonly refuseRaw?: RefuseRaw | undefined;
  /** Called for what the answer throws, which callers see as `internal` alone. */
  readonly onFailure?: ((failure: unknown) => void) | undefined;
  /** The address that calls come from; loopback unless given. */
  readonly address?: string | undefined;
}

/** A door for a `Request` of the Fetch standard. It rejects only where the request's own body breaks off. */
export function fetchDoor(
  answer: (call: Call) => Reply | Promise<Reply>,
  options: FetchDoorOptions = {},
): (request: Request) => Promise<Response> {
  const address = options.address ?? '127.0.0.1';
  return async (request) => {
    const call = callOf(request, address);
    let reply: Reply;
    try {
      reply = await answer(call);
      if (!reply.broken) return responseOf(reply, request.method);
    } catch (failure) {
      if (failure instanceof ClientGone) throw failure;
      options.onFailure?.(failure);
      return internal(call, options);
    }
    return broken(reply, reply.broken, request);
  };
}

/** What `fetch` rejects with where a connection ends (Fetch section 4.8): a `TypeError`. */
class BrokenOff extends TypeError {
  constructor() {
    super('fetch failed', { cause: new Error('the connection was ended in a trial') });
  }
}

/** A reply that fails to arrive: the promise rejects, or its body does; silence lasts until the request is aborted. */
function broken(reply: Reply, how: Broken, { method, signal }: Request): Promise<Response> | Response {
  if (how === 'silent') {
    return new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }
  const half = how === 'truncated' && !reply.stream && method !== 'HEAD' && halfOf(reply);
  if (!half) throw new BrokenOff();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(half),
    pull: (controller) => controller.error(new BrokenOff()),
  });
  const { status, headers } = responseOf({ ...reply, body: undefined }, 'HEAD');
  return new Response(body, { status, headers });
}

function internal(call: Call, { refuseRaw, onFailure }: FetchDoorOptions): Response {
  try {
    if (refuseRaw) return responseOf(refuseRaw('internal', call.path), call.method);
  } catch (failure) {
    onFailure?.(failure);
  }
  return responseOf(ownDoorReply('internal'), call.method);
}

function callOf(request: Request, address: string): Call {
  const target = splitTarget(request.url.replace(/#.*$/s, ''));
  const headers = headersOf(request);
  const hasBody = request.body !== null;
  let body: Promise<Buffer | 'too large'> | undefined;
  return {
    method: request.method,
    path: target.path,
    query: target.query,
    headers,
    get headerBytes() {
      let bytes = 0;
      for (const [name, value] of Object.entries(headers)) bytes += name.length + (value?.length ?? 0) + 4;
      return bytes;
    },
    address,
    hasBody,
    body(bytesMax) {
      if (!hasBody) return Buffer.alloc(0);
      body ??= gather(request, bytesMax);
      return body;
    },
  };
}

function headersOf(request: Request): Call['headers'] {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of request.headers) headers[name] = value;
  headers.host ??= new URL(request.url).host;
  return headers;
}

async function gather(request: Request, bytesMax: number): Promise<Buffer | 'too large'> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) return 'too large';
  const gathering = new BodyBytes(bytesMax);
  const reader = request.body!.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new ClientGone({ cause });
    });
    if (done) return gathering.whole();
    if (gathering.take(Buffer.from(value.buffer, value.byteOffset, value.byteLength))) continue;
    // Whoever sends it is told so by the answer.
    void reader.cancel().catch(() => {});
    return 'too large';
  }
}

function responseOf(reply: Reply, method: string): Response {
  const list = headerList(reply);
  const headers = new Headers();
  for (let at = 0; at < list.length; at += 2) headers.append(String(list[at]), String(list[at + 1]));
  const { status, body, stream } = reply;
  if (stream) {
    headers.delete('content-length');
    return new Response(method === 'HEAD' ? null : streamBody(stream), { status, headers });
  }
  // As bytes: a text would be given a content-type of its own.
  const content = body === undefined || method === 'HEAD' || bodiless.has(status) ? null : Buffer.from(body);
  return new Response(content, { status, headers });
}

/** Statuses that a `Response` takes no body with (Fetch section 2.2.3). */
const bodiless = new Set([204, 205, 304]);
