import type { Endpoint } from '../../parts/endpoints.ts';
import { isNever } from '../../parts/possible-errors.ts';
import type { Spec } from '../../parts/spec.ts';
import { compileAccept, type Negotiate } from '../http/media-type.ts';

/** What the answer may be; where `Accept` is not looked at it is what it is. */
export function compileNegotiation(spec: Spec, { acceptIgnored, produces = ['application/json'] }: Endpoint): Negotiate {
  if (!acceptIgnored && !isNever(spec, 'request.accept')) return compileAccept(produces);
  const type = produces[0] ?? 'application/json';
  return () => type;
}
