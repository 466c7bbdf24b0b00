import type { Endpoint } from '../../parts/endpoints.ts';
import type { Value } from '../exchange/exchange.ts';

/** The part of a body that is the row: the whole, or the member that the endpoint names. */
export function takenOf({ takes = [] }: Pick<Endpoint, 'takes'>, request: Value): Value {
  let value = request;
  for (const name of takes) {
    // What is neither null nor a list is a map.
    const fields = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, Value>) : {};
    value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  }
  return value;
}
