/** Bodies as they come, and what may be answered. */
import type { IncomingMessage } from 'node:http';
import { Refusal } from './exchange.ts';
import type { Shop } from './shop.ts';

const bytesMax = 8192;
const types = { json: ['application/json'], patch: ['application/json', 'application/merge-patch+json'] };

/** Reads a body: first its type, then its size, then what it says. */
export async function readBody({ faults }: Shop, request: IncomingMessage, takes: keyof typeof types): Promise<unknown> {
  const max = faults.has('one-byte-less') ? bytesMax - 1 : faults.has('large-body-taken') ? 16 * bytesMax : bytesMax;
  const bytes = await bytesOf(request, max);
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (type === '' && bytes?.length === 0) throw new Refusal('malformed');
  if (!types[takes].includes(type) && !faults.has('any-media-type')) throw new Refusal('unsupported_media');
  if (bytes === undefined) throw new Refusal('too_large');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal('malformed');
  }
}

/** All of it, or nothing where it is too much; then the rest is read away. */
async function bytesOf(request: IncomingMessage, max: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= max) chunks.push(chunk);
  }
  return length > max ? undefined : Buffer.concat(chunks);
}

/** Whether JSON may be answered (RFC 9110 section 12.5.1): the range that fits best decides. */
export function isAcceptable(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  const ranges = ['application/json', 'application/*', '*/*'];
  const qualities = new Map<string, number>();
  for (const part of accept.split(',')) {
    const [range = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    qualities.set(range, quality === undefined ? 1 : Number(quality.slice(2)));
  }
  const best = ranges.find((range) => qualities.has(range));
  return best !== undefined && qualities.get(best)! > 0;
}
