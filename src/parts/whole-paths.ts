import type { Endpoint } from './endpoints.ts';
import { entriesOf, isStated, statedValue } from './fact.ts';
import { pathParameters } from './payload.ts';
import type { Spec } from './spec.ts';

/** Rows that are told by all that a path says, and not by its last parameter alone: `identity: "'racks/' + params.rack + '/bolts/' + params.bolt"`. */

/** What an identity may not read, where a path says it whole. */
const ofPathAlone = /^(?!.*\b(?:request|caller|resource|next|now|has)\b)/s;

/** Whether the row of an endpoint is told by its path alone, and by an expression over that. */
export function isOfWholePath({ identity }: Endpoint): boolean {
  return identity !== undefined && ofPathAlone.test(identity.source);
}

/** The endpoint that reads such rows below what the path of an endpoint names, with the one parameter that this does not say: `/configs/{config}/runs/{run}` for `/configs/{config}:start`. */
export function readerBelow(
  spec: Spec,
  { path }: Endpoint,
  resource: string,
): { readonly reader: Endpoint; readonly last: string } | undefined {
  const known = new Set(pathParameters(path));
  for (const [, reader] of entriesOf(spec.endpoints.all)) {
    const effect = statedValue(reader.does);
    if (effect?.verb !== 'read' || effect.resource !== resource || !isOfWholePath(reader)) continue;
    const parameters = pathParameters(reader.path);
    const last = parameters.at(-1);
    const isBelow = parameters.length > 1 && parameters.slice(0, -1).every((name) => known.has(name));
    if (last !== undefined && isBelow && !known.has(last)) return { reader, last };
  }
  return undefined;
}

/** The resource that such an act makes: a POST of which only shapes are known, on or below something, that shows a row told by a path below what its own names. */
export function madeByAct(spec: Spec, endpoint: Endpoint): string | undefined {
  const { method, does, response } = endpoint;
  if (method !== 'POST' || statedValue(does) !== undefined || !isStated(response)) return undefined;
  const shape = response.value.find(({ status }) => /^2/.test(status))?.shape;
  const resource = shape && statedValue(shape)?.resource;
  return typeof resource === 'string' && readerBelow(spec, endpoint, resource) ? resource : undefined;
}
