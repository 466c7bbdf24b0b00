import type { Json, JsonMap } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import { bytesFormat } from '../../kinds/formats/all.ts';
import { fieldOfMember, takenOf } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { boundByPath, identifierParameter, isStateSent, isWritable, pathParameters, requestShape } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { bareMap } from '../values/at-path.ts';
import { isForm } from '../values/forms.ts';
import type { Before, RowFields } from './expectation.ts';
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
  if (!stated || Object.keys(stated.set).length > 0) return false;
  const creations = [...model.endpointsThat('create', name), ...model.endpointsThat('upsert', name)];
  const { writable } = stated;
  const isMaker = (caller: TrialCaller) =>
    creations.some((endpoint) => model.access.allows(model.operationOf(endpoint), caller) !== 'no');
  return (
    (writable === undefined || model.callers.every((one) => writable.includes(one.user ?? '') || !isMaker(one))) &&
    isWritable(model.spec, resource, stated) &&
    creations.every((endpoint) => {
      const properties = statedValue(requestShape(model.spec, endpoint))?.properties;
      return isMap(properties) && Object.hasOwn(properties, field);
    })
  );
}

/** The fields that a body sets, as its caller may write them; nothing where the body has a shape of its own, or is neither JSON nor a form that says them plainly. */
export function sentFields(
  model: Model,
  resource: Resource,
  exchange: TrialExchange,
): Readonly<Record<string, Json>> | undefined {
  const { endpoint, sent } = exchange;
  const isOwn = endpoint !== undefined && (isUnstated(endpoint.request) || !writesFields(model, endpoint));
  const taken = takenOf(endpoint ?? {}, sent.json);
  const type = sent.headers['content-type'];
  if (isOwn || !isJsonMap(taken) || !(isJson(type) || (isForm(type) && isSaidPlainly(resource, endpoint, taken))))
    return undefined;
  const caller = model.readerOf(exchange);
  const effect = endpoint && statedValue(endpoint.does);
  const fields = Object.entries(taken).filter(([name]) => {
    const field = entryOf(resource.fields, name);
    const isMoved = field && effect?.verb === 'update' && isStateSent(model.spec, resource, field);
    if (!field || !(isMoved || isWritable(model.spec, resource, field))) return false;
    return field.writable === undefined || (caller !== undefined && field.writable.includes(caller.user));
  });
  return bareMap(Object.fromEntries(fields));
}

/** What no expression sets: what is sent of the rest need not be what comes to be. */
export function unset(
  { fields }: Resource,
  words: readonly string[],
  row: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  const isSet = (name: string) => words.some((word) => entryOf(fields, name)?.set[word] !== undefined);
  return bareMap(Object.fromEntries(Object.entries(row).filter(([name]) => !isSet(name))));
}

/** What is taken of a body of JSON is JSON. */
export function isJsonMap(taken: unknown): taken is JsonMap {
  return isMap(taken as Json);
}

/** Whether it is said that the body is none, or of no promised shape. */
function isUnstated({ standing, ...request }: Endpoint['request']): boolean {
  return (
    standing === 'none' || standing === 'any' || (standing === 'open' && 'question' in request && request.question !== undefined)
  );
}

/** Whether a form says for sure what each field is to be: one type tells how its text, or each of a list, is read, and an empty text is what it is stated to be. */
function isSaidPlainly({ fields }: Resource, endpoint: Endpoint | undefined, taken: JsonMap): boolean {
  return Object.entries(taken).every(([name, value]) => {
    const shape = statedValue(entryOf(fields, name)?.shape);
    if (value === null || value === '') return endpoint?.emptySent !== undefined;
    return shape === undefined || isReadPlainly(shape, value);
  });
}

function isReadPlainly({ type, items, ...more }: JsonMap, value: Json): boolean {
  if (Array.isArray(value)) return isMap(items) && value.every((item: Json) => isReadPlainly(items, item));
  const isFile = ['contentMediaType', 'contentEncoding'].some((word) => word in more) || more.format === bytesFormat;
  const isOfType = typeof type === 'string' ? scalars.has(type) : type === undefined && Array.isArray(more.enum);
  return isOfType && !isFile && value !== null && value !== '' && typeof value !== 'object';
}

const scalars: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean']);

function isJson(type: string | undefined): boolean {
  return type === undefined || /^application\/(?:[\w.-]+\+)?json/.test(type);
}

/** A row before a change, as far as what becomes of it can be reckoned: the rest may be as it was. */
export function reckonedOf(before: Before, resource: Resource, words: readonly string[], unknown: ReadonlySet<string>): Before {
  const fields = Object.entries(unset(resource, words, before.fields)).filter(([name]) => !unknown.has(name));
  return { ...before, fields: Object.fromEntries(fields) };
}

/** Whether an update or replacement leaves everything as it was, as far as it can be seen. */
export function leavesAsItWas({ fields }: Resource, next: RowFields, before: Before): boolean {
  // What is derived of other rows is another only where the rest of the row is, or they are.
  const isGone = (name: string) => !Object.hasOwn(next, name) && entryOf(fields, name)?.derive === undefined;
  return (
    Object.entries(next).every(
      ([name, value]) => before.unseen.has(name) || isSame(value ?? null, before.fields[name] ?? null),
    ) && Object.entries(before.fields).every(([name, value]) => value === null || !isGone(name))
  );
}

/** The fields that the path of an exchange binds, and their values. */
export function boundValues(model: Model, { endpoint, sent }: TrialExchange): ReadonlyMap<string, Json> {
  const bound = new Map<string, Json>();
  if (!endpoint) return bound;
  const effect = statedValue(endpoint.does);
  const resource = effect && 'resource' in effect ? model.resource(effect.resource) : undefined;
  if (!resource) return bound;
  const names = new Set(boundByPath(model.spec, endpoint));
  const last = identifierParameter(endpoint);
  const identifier = statedValue(resource.identifier)?.field;
  for (const parameter of pathParameters(endpoint.path)) {
    const name = parameter === last ? identifier : parameter;
    const value = sent.path[parameter];
    const field = name === undefined ? undefined : entryOf(resource.fields, name);
    if (name === undefined || value === undefined || !field || !names.has(name)) continue;
    const type = field.ref === undefined ? statedValue(field.shape)?.type : identifierType(model.spec, field.ref);
    bound.set(name, type === 'integer' && typeof value === 'string' ? Number(value) : value);
  }
  return bound;
}
