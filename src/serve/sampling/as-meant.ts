import { after, type PromiseOrValue } from '../after.ts';
import type { Call } from '../call.ts';

/**
 * Clients that call procedures send each of them by POST, with a form for its parameters, also where the document has it by GET. A
 * stand-in takes such a form as the query of the one method that the path has; nothing for any other request.
 */
export function asMeant(
  call: Call,
  allowed: readonly string[],
  bodyBytesMax: number,
): PromiseOrValue<Call | 'too large'> | undefined {
  const stated = allowed.filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
  const type = call.headers['content-type'];
  const isForm = typeof type === 'string' && /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type);
  if (call.method !== 'POST' || stated.length !== 1 || stated[0] !== 'GET' || (call.hasBody && !isForm)) return undefined;
  const { path, headers, headerBytes, address } = call;
  const asGet = (form: string): Call => ({
    ...{ path, headers, headerBytes, address },
    repeats: (name) => call.repeats?.(name) ?? false,
    body: () => Buffer.from(''),
    method: 'GET',
    query: [call.query, form].filter((part) => part !== '').join('&'),
    hasBody: false,
    warnings: ['method POST is not stated'],
  });
  const body = call.hasBody ? call.body(bodyBytesMax) : Buffer.from('');
  const taken = (bytes: Buffer | 'too large') => (bytes === 'too large' ? bytes : asGet(bytes.toString('latin1')));
  return after(body, taken);
}
