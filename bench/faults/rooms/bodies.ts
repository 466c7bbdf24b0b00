/** Bodies: their type, their size, what they say; and what may be answered. */
import type { FastifyRequest } from 'fastify';
import { type House, Refused } from './house.ts';

const bytesMax = 4096;
export const json = ['application/json'];
export const jsonOrForm = ['application/json', 'application/x-www-form-urlencoded'];
export const patch = ['application/json', 'application/merge-patch+json'];

/** Reads the body of an operation that takes one; others ignore what is sent. */
export function decode({ faults }: House, request: FastifyRequest): void {
  const { takes } = request.routeOptions.config;
  if (!takes) return;
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (type === '' && bytes.length === 0) throw new Refused('BODY_UNREADABLE');
  if (!takes.includes(type) || (faults.has('forms-not-taken') && type.endsWith('urlencoded'))) throw new Refused('MEDIA_TYPE');
  if (bytes.length > (faults.has('body-four-times') ? 4 * bytesMax : bytesMax)) throw new Refused('TOO_LARGE');
  request.bytes = bytes;
  request.body = type.endsWith('urlencoded') ? form(bytes) : parsed(bytes);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refused('BODY_UNREADABLE');
  }
}

/** The fields of a form: texts, but for those that can only be true or false. */
function form(bytes: Buffer): Record<string, unknown> {
  const sent = new URLSearchParams(bytes.toString());
  return Object.fromEntries([...new Set(sent.keys())].map((name) => [name, field(name, sent.getAll(name))]));
}

function field(name: string, values: readonly string[]): unknown {
  const [value] = values;
  if (values.length > 1) throw new Refused('BODY_UNREADABLE', [{ path: `/${name}`, expected: 'one value' }]);
  return name === 'vip' && (value === 'true' || value === 'false') ? value === 'true' : value;
}

/** Whether JSON is among what a client accepts (RFC 9110 section 12.5.1). */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  const weights = new Map(
    accept.split(',').map((part) => {
      const [range = '', ...rest] = part.split(';').map((text) => text.trim().toLowerCase());
      const weight = rest.find((text) => text.startsWith('q='));
      return [range, weight === undefined ? 1 : Number(weight.slice(2))];
    }),
  );
  const best = ['application/json', 'application/*', '*/*'].find((range) => weights.has(range));
  return best !== undefined && (weights.get(best) ?? 0) > 0;
}
