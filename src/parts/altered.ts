import { leftOutOf } from './left-out.ts';
import type { Field } from './resources.ts';
import type { Spec } from './spec.ts';

/** Whether `event.before` tells of a field: one that everybody sees, and that is kept rather than reckoned. */
export function altersInSight(spec: Spec, field: Field): boolean {
  const { writeOnly, reveal, visible, stored, derive } = field;
  if (leftOutOf(spec, 'anybody').has(field)) return false;
  return !writeOnly && reveal === undefined && visible === undefined && stored && derive === undefined;
}
