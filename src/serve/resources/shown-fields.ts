import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import type { Spec } from '../../parts/spec.ts';

/** The fields that a shape names, by itself or by the name of a value. */
export function shownFields(show: Field['show'], { resources }: Spec): readonly string[] | undefined {
  if (typeof show !== 'object') return undefined;
  const value = show.resource === undefined ? undefined : entryOf(resources.all, show.resource);
  if (value && !value.shape) return entriesOf(value.fields).map(([name]) => name);
  const { properties } = value ? (statedValue(value.shape) ?? {}) : show;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : undefined;
}
