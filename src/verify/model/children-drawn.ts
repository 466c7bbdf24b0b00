import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import { childrenTakerOf, sentShape, takesChildren } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';

/**
 * A body by rule without the children that a change may name: whoever draws a body knows none that are there. A replacement has to send
 * them, so that it makes them all.
 */
export function withoutNamedChildren(spec: Spec, endpoint: Endpoint, shape: Fact<Shape>): Fact<Shape> {
  const effect = statedValue(endpoint.does);
  const taker = effect && childrenTakerOf(effect);
  if (!effect || !('resource' in effect) || !taker || taker === 'create' || isStated(endpoint.request) || !isStated(shape))
    return shape;
  const fields = entriesOf(entryOf(spec.resources.all, effect.resource)?.fields);
  const held = new Map(fields.filter(([, field]) => takesChildren(field, taker)));
  if (held.size === 0) return shape;
  const stated = isMap(shape.value.properties) ? shape.value.properties : {};
  const properties = Object.fromEntries(
    Object.entries(stated).flatMap(([name, inner]) => {
      const field = held.get(name);
      if (!field) return [[name, inner]];
      return taker === 'update' ? [] : [[name, sentShape(spec, field)]];
    }),
  );
  return { ...shape, value: { ...shape.value, properties } };
}
