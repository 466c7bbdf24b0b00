import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Model } from './model.ts';

/** The keywords that say nothing of the members of a map. */
const saysNothing: ReadonlySet<string> = new Set(['type', 'title', 'description']);

/** The shape that a body is drawn by: where the map that holds the row's fields says nothing of its members, they are the row's. */
export function heldShape(model: Model, endpoint: Endpoint, shape: Shape): Shape {
  const fields = holdsAny(endpoint) ? model.rowShape(endpoint) : undefined;
  return fields ? filledAt(shape, endpoint.takes?.path ?? [], fields) : shape;
}

/** Whether the map of a stated body that holds the row's fields says nothing of its members, so that what may be sent of these follows by rule. */
export function holdsAny({ request, takes }: Endpoint): boolean {
  if (!isStated(request) || !takes || takes.path.length === 0) return false;
  let inner: Json | undefined = request.value;
  for (const name of takes.path) inner = memberOf(inner, name);
  return isMap(inner) && inner.type === 'object' && Object.keys(inner).every((keyword) => saysNothing.has(keyword));
}

function memberOf(shape: Json | undefined, name: string): Json | undefined {
  const properties = isMap(shape) ? shape.properties : undefined;
  return isMap(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function filledAt(shape: Shape, [first, ...rest]: readonly string[], fields: Shape): Shape {
  const inner = first === undefined ? undefined : memberOf(shape, first);
  if (first === undefined || !isMap(inner)) return fields;
  const properties = isMap(shape.properties) ? shape.properties : {};
  return { ...shape, properties: { ...properties, [first]: filledAt(inner, rest, fields) } };
}
