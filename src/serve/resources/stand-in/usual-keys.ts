import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { UsualKey } from '../stand-in.ts';

/**
 * The idempotency key that is usual for an endpoint: of a POST in `Idempotency-Key` (the IETF's draft), which vendors' clients send where their documents do not name it, in a header whose description says that it is one,
 * or in a member `idempotency_key` of the body.
 */
export function usualKeyOf(endpoint: Endpoint, samples: Samples): UsualKey | undefined {
  const { method, at, parameters, request } = endpoint;
  if (method !== 'POST') return undefined;
  const header = entriesOf(parameters).find(([, one]) => one.in === 'header' && isKey(one.name, describedBy(one.shape)))?.[0];
  const body = statedValue(request);
  const member =
    body &&
    Object.keys(samples.membersOf(body)).find((name) =>
      /^(?:client_?)?(?:idempotency|idempotent)_?(?:key|token|id)?$/i.test(name),
    );
  return { at, header: header ?? 'Idempotency-Key', required: false, ...(member !== undefined && { member }) };
}

/** `Idempotency-Key`, `Acme-Idempotency-Token`; and `Acme-Request-Id` of which it is said that its keys are stored, or that it makes requests idempotent. */
function isKey(name: string, description: string): boolean {
  return (
    /idempoten/i.test(name) ||
    (/request-?id$/i.test(name) && /idempoten|\b(?:stores?|remembers?) (?:the )?keys?\b/i.test(description))
  );
}

function describedBy(shape: Parameters<typeof statedValue>[0]): string {
  const stated = statedValue(shape) as { readonly description?: unknown } | undefined;
  return typeof stated?.description === 'string' ? stated.description.slice(0, 2000) : '';
}
