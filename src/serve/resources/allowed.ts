import type { Endpoint } from '../../parts/endpoints.ts';
import type { Value } from '../exchange/exchange.ts';
import type { Changing } from './act.ts';
import type { RowModel } from './model.ts';

/** Compiles `in`, the states in which an endpoint may change a row; nothing where none are stated. */
export function compileAllowed(endpoint: Endpoint, { machines }: RowModel): Changing['illegalIn'] {
  const named = endpoint.in;
  if (!named || machines.length === 0) return undefined;
  // Of several machines each is asked of which a state is named.
  const asked = machines.flatMap(({ field, states }) => {
    const own = machines.length === 1 ? named : named.filter((state) => states.has(state));
    return own.length === 0 ? [] : [{ field, allowed: new Set<Value>(own) }];
  });
  return ({ fields }) =>
    fields && asked.some(({ field, allowed }) => !allowed.has(fields[field])) ? { when: 'transition.illegal.state' } : undefined;
}
