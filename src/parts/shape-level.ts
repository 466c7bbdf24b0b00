import type { JsonMap } from '../document/document.ts';
import { isMap } from '../document/values.ts';
import { entriesOf, entryOf, statedValue } from './fact.ts';
import type { Field } from './resources.ts';
import { branchesOf } from './shapes/branches.ts';
import type { Spec } from './spec.ts';
import { resolvedShape } from './value-shape.ts';

/** A member that a shape states of its values. */
export interface LevelMember {
  readonly name: string;
  readonly shape: JsonMap;
  /** The field that it is, where its holder is a resource. */
  readonly field?: Field;
}

/** What a shape says of what stands directly inside its values. */
export interface Level {
  readonly members: readonly LevelMember[];
  /** The shape of members that are not named. */
  readonly rest?: JsonMap;
  readonly items?: JsonMap;
  /** The shapes that speak of the same values as well: alternatives, and what has to fit besides. */
  readonly branches: readonly JsonMap[];
}

/**
 * One level of a shape, as everything that goes along a value needs it: the names of values are followed, and a resource has its
 * fields as members. What is inside may lead back here, so those who go further remember the resources that they have met.
 */
export function levelOf(spec: Spec, shape: JsonMap): Level {
  const resolved = resolvedShape(spec, shape);
  if (typeof resolved.resource === 'string') {
    const resource = entryOf(spec.resources.all, resolved.resource);
    const fields = resource ? entriesOf(resource.fields) : [];
    return { members: fields.map(([name, field]) => ({ name, shape: statedValue(field.shape) ?? {}, field })), branches: [] };
  }
  const { properties, additionalProperties: rest, items } = resolved;
  return {
    members: Object.entries(isMap(properties) ? properties : {}).flatMap(([name, inner]) =>
      isMap(inner) ? [{ name, shape: inner }] : [],
    ),
    ...(isMap(rest) && { rest }),
    ...(isMap(items) && { items }),
    branches: branchesOf(resolved),
  };
}
