import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { childrenTakerOf, takesChildren } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { isPlainMap } from '../../parts/source.ts';
import type { RowModel } from './model.ts';

/** The fields whose rows are taken with the one that is made or changed, by whoever makes or changes it. */
export function takenAlong({ does }: Endpoint, { fields }: RowModel): ReadonlySet<string> {
  const effect = statedValue(does);
  const taker = effect && childrenTakerOf(effect);
  return new Set([...fields.values()].filter((field) => taker && takesChildren(field, taker)).map(({ name }) => name));
}

/** What is dropped of a body and is not taken along. */
export function droppedAlone(dropped: ReadonlySet<string>, endpoint: Endpoint, model: RowModel): ReadonlySet<string> {
  const taken = takenAlong(endpoint, model);
  return taken.size === 0 ? dropped : new Set([...dropped].filter((name) => !taken.has(name)));
}

/** The shape of a body that follows by rule, less the children in it, which are looked at by themselves. */
export function shapeAlone({ request }: Endpoint, shape: Shape, names: ReadonlySet<string>): Shape {
  const { properties, required } = shape;
  if (names.size === 0 || isStated(request) || !isPlainMap(properties)) return shape;
  const isLeft = (name: Json) => !names.has(String(name));
  return {
    ...shape,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isLeft(name))),
    ...(Array.isArray(required) && { required: required.filter(isLeft) }),
  };
}
