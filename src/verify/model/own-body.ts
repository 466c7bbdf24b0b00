import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import { fieldOfMember } from '../../parts/taking.ts';
import { holdsAny } from './held-shape.ts';
import type { Model } from './model.ts';
import { isByRule } from './promises.ts';

/**
 * Whether a body sets the fields of the resource: it follows from what the operation does, or it is stated, and says where it holds them, or its
 * members that are called like fields are these. Of a document of others that is usual, and not said.
 */
export function writesFields(model: Model, endpoint: Endpoint): boolean {
  if (!isStated(endpoint.request) || endpoint.takes) return true;
  return (isByRule(endpoint) || model.conventions) && membersOfBody(model, endpoint.request.value) !== undefined;
}

/** The names of the members that a stated body may have; nothing where it is no map of known members. */
function membersOfBody(model: Model, shape: Shape): readonly string[] | undefined {
  const resource = typeof shape.resource === 'string' ? model.resource(shape.resource) : undefined;
  if (resource) return isStated(resource.fields) ? Object.keys(resource.fields.value) : undefined;
  return isMap(shape.properties) ? Object.keys(shape.properties) : undefined;
}

/** Whether a body may hold a field: each where nothing is stated of it, or of the map that holds them. */
export function mayHold(model: Model, endpoint: Endpoint, field: string): boolean {
  const { request, takes } = endpoint;
  if (!isStated(request) || holdsAny(endpoint)) return true;
  const members = takes?.path.length ? undefined : membersOfBody(model, request.value);
  return members?.some((member) => fieldOfMember(takes, member) === field) ?? false;
}
