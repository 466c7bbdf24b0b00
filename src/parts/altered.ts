import type { Field } from './resources.ts';

/** Whether `event.before` tells of a field: one that everybody sees, and that is kept rather than reckoned. */
export function altersInSight({ writeOnly, reveal, visible, stored, derive }: Field): boolean {
  return !writeOnly && reveal === undefined && visible === undefined && stored && derive === undefined;
}
