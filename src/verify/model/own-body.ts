import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { isAlwaysShown, isWritable, requestShape } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { fieldOfMember } from '../../parts/taking.ts';
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

/** The keywords that say nothing of the members of a map. */
const saysNothing: ReadonlySet<string> = new Set(['type', 'title', 'description']);

/** The shape that a body is drawn by: where the map that holds the row's fields says nothing of its members, they are the row's. */
export function heldShape(model: Model, endpoint: Endpoint, shape: Shape): Shape {
  const fields = holdsAny(endpoint) ? model.rowShape(endpoint) : undefined;
  return fields ? filledAt(shape, endpoint.takes?.path ?? [], fields) : shape;
}

/** Whether the map of a stated body that holds the row's fields says nothing of its members, so that what may be sent of these follows by rule. */
export function holdsAny({ request, takes }: Endpoint): boolean {
  if (!isStated(request) || !takes || takes.path.length === 0) return false;
  let inner: Json | undefined = request.value;
  for (const name of takes.path) inner = memberOf(inner, name);
  return isMap(inner) && inner.type === 'object' && Object.keys(inner).every((keyword) => saysNothing.has(keyword));
}

function memberOf(shape: Json | undefined, name: string): Json | undefined {
  const properties = isMap(shape) ? shape.properties : undefined;
  return isMap(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function filledAt(shape: Shape, [first, ...rest]: readonly string[], fields: Shape): Shape {
  const inner = first === undefined ? undefined : memberOf(shape, first);
  if (first === undefined || !isMap(inner)) return fields;
  const properties = isMap(shape.properties) ? shape.properties : {};
  return { ...shape, properties: { ...properties, [first]: filledAt(inner, rest, fields) } };
}

/** In what an endpoint is sent members by name: JSON, where nothing else is stated, or a form; nothing where it takes neither first. */
export function bodyMedia({ consumes }: Endpoint): 'json' | 'form' | undefined {
  const [first = 'application/json'] = consumes ?? [];
  if (first === 'application/json') return 'json';
  return first === 'application/x-www-form-urlencoded' ? 'form' : undefined;
}

/** Whether everybody who makes a row may say what a field of it is to be, and everybody who reads it is shown that. */
export function isSendable(model: Model, name: string, field: string): boolean {
  const resource = model.resource(name);
  const stated = resource && entryOf(resource.fields, field);
  if (!stated || !isAlwaysShown(model.spec, stated) || stated.writable !== undefined || Object.keys(stated.set).length > 0)
    return false;
  const creations = [...model.endpointsThat('create', name), ...model.endpointsThat('upsert', name)];
  return (
    isWritable(model.spec, resource, stated) &&
    creations.every((endpoint) => {
      const properties = statedValue(requestShape(model.spec, endpoint))?.properties;
      return isMap(properties) && field in properties;
    })
  );
}
