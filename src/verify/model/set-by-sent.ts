import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import { transitionsOf } from '../../parts/states.ts';
import type { Model } from './model.ts';

/** A field that a transition sets to what is sent with it: a quote, which a later choice compares. */
export interface SetBySent {
  readonly field: string;
  readonly transition: string;
  /** The member of the transition's body, and its shape. */
  readonly member: string;
  readonly shape: JsonMap;
}

const known = new WeakMap<Model, Map<string, readonly SetBySent[]>>();

/** The fields of a resource that its transitions set to what is sent with them, as it is. */
export function setBySent(model: Model, resource: string): readonly SetBySent[] {
  const all = known.get(model) ?? new Map<string, readonly SetBySent[]>();
  known.set(model, all);
  const found = all.get(resource) ?? foundFor(model, resource);
  all.set(resource, found);
  return found;
}

function foundFor(model: Model, resource: string): SetBySent[] {
  const fields = entriesOf(model.resource(resource)?.fields);
  return transitionsOf(model.spec.states, resource).flatMap(([transition]) => {
    const endpoint = model.endpointOfTransition(resource, transition);
    const properties = endpoint && statedValue(model.requestShape(endpoint))?.properties;
    return fields.flatMap(([field, { set }]): SetBySent[] => {
      const [, member = ''] = /^\s*request\.(\w+)\s*$/.exec(set[transition]?.source ?? '') ?? [];
      const shape = isMap(properties) ? properties[member] : undefined;
      return isMap(shape) ? [{ field, transition, member, shape }] : [];
    });
  });
}

/** Whether a transition sets a field to what is sent with it. */
export function isSetBySent(model: Model, resource: string, field: string): boolean {
  return setBySent(model, resource).some((one) => one.field === field);
}

/** The shape of what makes a row, with what acts on its way set of what is sent with them. */
export function withSetBySent(shape: Shape, more: readonly SetBySent[]): Shape {
  const properties = isMap(shape.properties) ? shape.properties : {};
  const added = Object.fromEntries(more.map(({ field, shape: own }) => [field, own]));
  return more.length === 0 ? shape : { ...shape, properties: { ...added, ...properties } };
}
