import type { IncomingMessage } from 'node:http';
import type { Bounds } from './bounds.ts';
import type { DoorRefusal } from './refusals.ts';

/** What keeps a request that node:http took from being one to answer. */
export function flawOf(request: IncomingMessage, { headerCountMax, urlBytesMax }: Bounds): DoorRefusal | undefined {
  const { rawHeaders, httpVersion } = request;
  if (rawHeaders.length > 2 * headerCountMax) return 'headers too large';
  if (urlBytesMax !== undefined && (request.url?.length ?? 0) > urlBytesMax) return 'url too large';
  // One Host, which only HTTP/1.0 may leave out (RFC 9112 section 3.2).
  const hosts = hostCount(rawHeaders);
  if (httpVersion === '1.1') return hosts === 1 ? undefined : 'malformed';
  return httpVersion === '1.0' && hosts <= 1 ? undefined : 'malformed';
}

function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) count++;
  }
  return count;
}
