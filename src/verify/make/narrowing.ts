import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf } from '../../parts/fact.ts';
import type { WantedRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { bareMap } from '../values/at-path.ts';

/** Filters by what a row is to refer to: whoever asks again is shown the same one, however many there are by then. */
export function narrowing(endpoint: Endpoint, { parents = {} }: WantedRow): Readonly<Record<string, Symbolic>> | undefined {
  const filters = entriesOf(endpoint.parameters).flatMap(([name, { in: place, filters: field = '', op }]) => {
    const parent = place === 'query' && op === '=' ? parents[field] : undefined;
    return parent ? [[name, parent.id] as const] : [];
  });
  return filters.length > 0 ? bareMap(Object.fromEntries(filters)) : undefined;
}
