import type { Choosing } from './choosing.ts';
import type { Endpoint } from './endpoints.ts';
import { statedValue } from './fact.ts';
import { resourceOfEffect } from './operations.ts';
import type { Parameter } from './parameters.ts';
import { reachOf } from './reach.ts';
import type { Shape } from './shape.ts';
import type { Spec } from './spec.ts';

/** So many values may stand in one parameter that chooses. */
const valuesMost = 100;

/** The shape of the values of a parameter that chooses: a list where several may be sent, what is stated or what it is compared with. */
export function choosingShape(spec: Spec, endpoint: Endpoint, { chooses, shape, op }: Parameter): Shape {
  const own = statedValue(shape);
  if (chooses?.by !== 'path') return own ?? { type: 'string' };
  const one = own ?? comparedShape(spec, endpoint, chooses, op);
  const isList = chooses.split !== undefined || op === 'in';
  return isList && one.type !== 'array' ? { type: 'array', items: one, maxItems: valuesMost } : one;
}

function comparedShape(
  spec: Spec,
  endpoint: Endpoint,
  { path, zone }: Extract<Choosing, { by: 'path' }>,
  op: Parameter['op'],
): Shape {
  if (zone !== undefined) return { type: 'string', format: 'date' };
  if (op === 'prefix') return { type: 'string' };
  const reached = reachOf(spec, resourceOfEffect(statedValue(endpoint.does)) ?? '', path);
  if ('wrong' in reached) return { type: 'string' };
  return op === 'contains' && !reached.isList ? { type: 'string' } : reached.shape;
}
