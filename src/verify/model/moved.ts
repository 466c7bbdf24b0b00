import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Fact, isStated, statedValue } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { isMovedByUpdate, machinesOf, transitionsOn } from '../../parts/states.ts';

/** The transitions that an update is, with the fields of their states: it sends another state than the row was in, and one leads there. */
export function movedIn(
  { states }: Spec,
  resource: string,
  operation: string | undefined,
  fields: Readonly<Record<string, Json>> | undefined,
  before: Readonly<Record<string, Json>> | undefined,
): readonly { readonly field: string; readonly transition: string }[] {
  return machinesOf(states, resource).flatMap((machine) => {
    const { field } = machine;
    const [sent, was] = [fields?.[field], before?.[field]];
    if (typeof sent !== 'string' || sent === was) return [];
    const moving = transitionsOn(machine, operation).filter(([, { to }]) => to.some((target) => target.state === sent));
    const leaving = moving.find(([, { from }]) => from === '*' || from.includes(String(was)));
    return leaving ? [{ field, transition: leaving[0] }] : [];
  });
}

/** A state that an update sends is a matter of its own trial: elsewhere nothing is moved by the way. */
export function withoutState({ states }: Spec, endpoint: Endpoint, shape: Fact<Shape>): Fact<Shape> {
  const effect = statedValue(endpoint.does);
  if (effect?.verb !== 'update' || isStated(endpoint.request) || !isStated(shape)) return shape;
  const moved = machinesOf(states, effect.resource).filter(isMovedByUpdate);
  if (moved.length === 0) return shape;
  const stated = isMap(shape.value.properties) ? shape.value.properties : {};
  const properties = Object.fromEntries(Object.entries(stated).filter(([name]) => moved.every(({ field }) => field !== name)));
  return { ...shape, value: { ...shape.value, properties } };
}
