import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Fact, isStated, statedValue } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { isMovedByUpdate, machineOf, transitionsOn } from '../../parts/states.ts';

/** The transition that an update is: it sends another state than the row was in, and one leads there. */
export function movedIn(
  { states }: Spec,
  resource: string,
  operation: string | undefined,
  fields: Readonly<Record<string, Json>> | undefined,
  was: Json | undefined,
): string | undefined {
  const machine = machineOf(states, resource);
  const sent = machine && fields?.[machine.field];
  if (!machine || typeof sent !== 'string' || sent === was) return undefined;
  const moving = transitionsOn(states, resource, operation).filter(([, { to }]) => to.some((target) => target.state === sent));
  const leaving = moving.find(([, { from }]) => from === '*' || from.includes(String(was)));
  return leaving?.[0];
}

/** A state that an update sends is a matter of its own trial: elsewhere nothing is moved by the way. */
export function withoutState({ states }: Spec, endpoint: Endpoint, shape: Fact<Shape>): Fact<Shape> {
  const effect = statedValue(endpoint.does);
  if (effect?.verb !== 'update' || isStated(endpoint.request) || !isStated(shape)) return shape;
  const field = isMovedByUpdate(states, effect.resource) ? machineOf(states, effect.resource)?.field : undefined;
  if (field === undefined) return shape;
  const { [field]: _state, ...properties } = isMap(shape.value.properties) ? shape.value.properties : {};
  return { ...shape, value: { ...shape.value, properties } };
}
