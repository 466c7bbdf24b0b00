import type { Endpoint } from '../../parts/endpoints.ts';
import type { Value } from '../exchange/exchange.ts';
import type { Changing } from './act.ts';
import type { RowModel } from './model.ts';

/** Compiles `in`, the states in which an endpoint may change a row; nothing where none are stated. */
export function compileAllowed(endpoint: Endpoint, { machine }: RowModel): Changing['illegalIn'] {
  if (!endpoint.in || !machine) return undefined;
  const allowed = new Set<Value>(endpoint.in);
  return ({ fields }) => (fields && !allowed.has(fields[machine.field]) ? { when: 'transition.illegal.state' } : undefined);
}
