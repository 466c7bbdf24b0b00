import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, isSuppliedByService } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { isByRule } from './promises.ts';

/**
 * The shape of a body with what may have to be sent required in it: where it is open whether a field is required, a body without it is in
 * doubt, and one that has it is not. It draws better bodies, and no claim is founded on it.
 */
export function withOpenFlags(spec: Spec, endpoint: Endpoint, shape: Shape): Shape {
  const effect = statedValue(endpoint.does);
  const isWhole = effect?.verb === 'create' || effect?.verb === 'upsert' || effect?.verb === 'replace';
  const resource = entryOf(spec.resources.all, resourceOfEffect(effect) ?? '');
  const { properties, required } = shape;
  if (!isWhole || !resource || !isByRule(endpoint) || endpoint.request.standing !== 'open' || !isMap(properties)) return shape;
  const bound = new Set(boundByPath(spec, endpoint));
  const open = entriesOf(resource.fields)
    .filter(([name, field]) => name in properties && !bound.has(name) && isOpen(field) && !isEndless(spec, resource, field))
    .map(([name]) => name);
  return open.length === 0 ? shape : { ...shape, required: [...(Array.isArray(required) ? required : []), ...open] };
}

function isOpen(field: Field): boolean {
  return field.required.standing === 'open' && !isSuppliedByService(field, 'create');
}

/** Whether a row that it refers to would need one of this resource in turn, and so on without an end. */
function isEndless(spec: Spec, { name }: Resource, { ref }: Field): boolean {
  const met = new Set<string>();
  const leadsBack = (target: string): boolean => {
    if (target === name) return true;
    if (met.has(target)) return false;
    met.add(target);
    return entriesOf(entryOf(spec.resources.all, target)?.fields).some(
      ([, field]) => field.ref !== undefined && statedValue(field.required) !== false && leadsBack(field.ref),
    );
  };
  return ref !== undefined && leadsBack(ref);
}
