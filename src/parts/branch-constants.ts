import type { Json, JsonMap } from '../document/document.ts';
import { levelOf } from './shape-level.ts';
import type { Spec } from './spec.ts';
import { resolvedShape } from './value-shape.ts';

/** The members that a branch of a union fixes to one value: what tells it from the others. */
export type Constants = readonly (readonly [name: string, value: Json])[];

export function constantsOf(spec: Spec, named: JsonMap): Constants {
  return levelOf(spec, named).members.flatMap(({ name, shape }): [string, Json][] => {
    const { const: constant } = resolvedShape(spec, shape);
    return constant !== undefined ? [[name, constant]] : [];
  });
}

/** Whether a value can be of the branch with these constants. */
export function fitsBranch(value: unknown, constants: Constants): boolean {
  if (typeof value !== 'object' || value === null) return true;
  // Not null and no scalar: its members are read by name.
  const members = value as Readonly<Record<string, unknown>>;
  return constants.every(([name, constant]) => members[name] === undefined || members[name] === constant);
}
