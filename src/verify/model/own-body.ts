import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Model } from './model.ts';
import { isByRule } from './promises.ts';

/**
 * Whether a body sets the fields of the resource: it follows from what the operation does, or it is stated, and its members that are called
 * like fields are these. Of a document of others that is usual, and not said.
 */
export function writesFields(model: Model, endpoint: Endpoint): boolean {
  if (!isStated(endpoint.request)) return true;
  return (isByRule(endpoint) || model.conventions) && membersOfBody(model, endpoint.request.value) !== undefined;
}

/** The names of the members that a stated body may have; nothing where it is no map of known members. */
function membersOfBody(model: Model, shape: Shape): readonly string[] | undefined {
  const resource = typeof shape.resource === 'string' ? model.resource(shape.resource) : undefined;
  if (resource) return isStated(resource.fields) ? Object.keys(resource.fields.value) : undefined;
  return isMap(shape.properties) ? Object.keys(shape.properties) : undefined;
}

/** Whether a body may have a member: each field where nothing is stated of it. */
export function mayHold(model: Model, { request }: Endpoint, member: string): boolean {
  return !isStated(request) || (membersOfBody(model, request.value)?.includes(member) ?? false);
}
