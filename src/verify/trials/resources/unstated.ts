import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { boundByPath, isWritable } from '../../../parts/payload.ts';
import type { Resource } from '../../../parts/resources.ts';
import type { Model } from '../../model/model.ts';
import { bodyMedia, mayHold, writesFields } from '../../model/own-body.ts';

/** Where in a body a member can be that a resource does not state: in the row, or in a value of it. */
export interface ClosedPlace {
  readonly resource: Resource;
  /** The members on the way; `0` is the first item of a list. */
  readonly path: readonly string[];
}

/** The reason of a claim that such a member is refused. */
export const unstatedRefused = 'unstated refused';

const depthMax = 3;

/** The rows and values in the body of an endpoint that take no members but the stated ones. */
export function closedPlaces(model: Model, endpoint: Endpoint): readonly ClosedPlace[] {
  const effect = statedValue(endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  const writes = ['create', 'update', 'replace', 'upsert'].includes(effect?.verb ?? '');
  if (!resource || !writes || !bodyMedia(endpoint) || !writesFields(model, endpoint) || isStated(endpoint.request)) return [];
  const left = new Set(boundByPath(model.spec, endpoint));
  const sent = (name: string) => !left.has(name) && mayHold(model, endpoint, name);
  return placesIn(model, resource, { path: [], sent });
}

function placesIn(
  model: Model,
  resource: Resource,
  { path, sent }: { readonly path: readonly string[]; readonly sent: (name: string) => boolean },
): readonly ClosedPlace[] {
  if (!isStated(resource.fields) || path.length > depthMax) return [];
  const inside = entriesOf(resource.fields).flatMap(([name, field]) => {
    const shape = statedValue(field.shape);
    const isList = isMap(shape?.items) && typeof shape.items.resource === 'string';
    const value = isList && isMap(shape?.items) ? shape.items.resource : shape?.resource;
    const inner = typeof value === 'string' ? model.resource(value) : undefined;
    if (!inner || field.children || !sent(name) || !isWritable(model.spec, resource, field)) return [];
    return placesIn(model, inner, { path: [...path, name, ...(isList ? ['0'] : [])], sent: () => true });
  });
  return [...(resource.additionalProperties ? [] : [{ resource, path }]), ...inside];
}
