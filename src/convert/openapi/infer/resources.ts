import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import { addressedResource, type ShowingOperation, unshownResource } from './addresses.ts';
import { calledOtherwise } from './called-otherwise.ts';
import {
  type Collection,
  collectionAt,
  endpointOf,
  type InferenceContext,
  type InferenceRule,
  placeOfEndpoint,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { boundParameters } from './effects.ts';
import { isCalledAfter } from './memberships.ts';
import { pathParts, shapeOfPath, singular, wholeParameter, wordsOfName } from './paths.ts';
import { documentFields, listIn, type ShownRow, shownRowOf } from './rows.ts';
import { spreadCollection } from './spread-names.ts';

/** `/customers/{customer}` is about one of the things of `/customers`, and its answers show which resource those are. */
export const resourceBehindPath: InferenceRule = {
  name: 'resource-behind-path',
  says: 'A path that ends in a parameter is about one thing of the path before it; what its answers show is the resource, or what is sent where they say nothing; a thing that is sent and answered whole, with its name in its `metadata`, is told by its path, and so is one that shows no identifier and its own address, which such a path ends (`uri: /films/12`). A thing without an `id` that is made, read and changed or deleted there is told by the field that ends as the parameter does or is called after the thing, by its slug, key or name, or by the only one that ends in `id`, where that is sent or shown as one is made; else by the one text of it that the answer to its making says beside how it went (`{ code, message, customer_code }`). A path whose answers show what a path before it is about speaks of another thing. Things that two paths ending in the same word write out nearly alike are the same.',
  infer(context) {
    const groups = new Map<string, SourceOperation[]>();
    for (const operation of context.operations) {
      const { last, parent } = pathParts(operation.path);
      // `/{id}` is about one of the things of `/`, where things are made or listed there.
      if (last === undefined || (parent === '' && !context.byPath.has(''))) continue;
      const key = shapeOfPath(parent);
      groups.set(key, [...(groups.get(key) ?? []), operation]);
    }
    for (const [path, operations] of groups) {
      const found = collectionOf(path, operations, context);
      if (found) context.collections.set(path, found);
    }
    for (const [path, collection] of context.collections) if (tellsOwner(context, collection)) context.collections.delete(path);
  },
};

/** `/conversations/{id}/customers/{customer}`, which answers with the conversation: what is below it is another thing, of which nothing is said. */
function tellsOwner(context: InferenceContext, { path, resource }: Collection): boolean {
  const isOfOwner = [...context.collections.values()].some(
    (other) => other.resource === resource && path.startsWith(`${other.path}/{}/`),
  );
  if (!isOfOwner || isCalledAfter(path, resource)) return false;
  const fields = documentFields(context.resources, resource);
  const making = (context.byPath.get(path) ?? []).find(({ method }) => method === 'POST');
  const sent = making && context.written.propertiesOf(endpointOf(context, making).request);
  const isRead = (context.byPath.get(`${path}/{}`) ?? []).some(({ method }) => method === 'GET');
  return making === undefined ? !isRead : !Object.keys(sent?.all ?? {}).some((name) => Object.hasOwn(fields, name));
}

function collectionOf(path: string, operations: readonly SourceOperation[], context: InferenceContext): Collection | undefined {
  const { last: parameter, parent } = pathParts(operations[0]?.path ?? '');
  if (parameter === undefined) return undefined;
  const plural = pathParts(parent).segments.at(-1) ?? '';
  const together = context.byPath.get(path) ?? [];
  const inner = spreadCollection(context, path, operations, together) ?? innerNamed(context, path, operations, together);
  if (inner) return inner;
  const of = (list: readonly SourceOperation[], method: string) => list.filter((operation) => operation.method === method);
  const candidates: ShowingOperation[] = [
    ...of(operations, 'GET').map((one) => [one, whole] as const),
    ...of(together, 'GET').map(
      (one) => [one, (shape: Json | undefined) => listIn(context.written, shape, plural)?.items] as const,
    ),
    ...['PATCH', 'PUT', 'POST'].flatMap((method) => of(operations, method).map((one) => [one, whole] as const)),
    ...of(together, 'POST').map((one) => [one, whole] as const),
  ];
  for (const [operation, narrow] of candidates) {
    const endpoint = endpointOf(context, operation);
    const status = successOf(endpoint);
    const shape = narrow(shapeOfAnswer(endpoint, status));
    const noun = singular(plural);
    const row = shownRowOf(context.written, shape, parameter, noun) ?? shownRowOf(context.written, shape, `${noun}_id`);
    const resource = row && (row.resource ?? resourceNamedByPath(row, plural, operation, status ?? '200', context));
    if (resource !== undefined) return { path, parameter, resource };
  }
  const noun = singular(plural) || 'thing';
  const isDeletable = of(operations, 'DELETE').length > 0;
  const addressed = addressedResource(context, candidates, parameter, noun, isDeletable);
  if (addressed !== undefined) return { path, parameter, resource: addressed };
  const otherwise = otherwiseNamed(context, operations, together, { path, parameter }, plural);
  if (otherwise) return otherwise;
  const resource = unshownResource(context, operations, together, parameter, noun);
  return resource === undefined ? undefined : { path, parameter, resource };
}

function otherwiseNamed(
  context: InferenceContext,
  ofOne: readonly SourceOperation[],
  together: readonly SourceOperation[],
  { path, parameter }: Pick<Collection, 'path' | 'parameter'>,
  plural: string,
): Collection | undefined {
  const found = calledOtherwise(context, ofOne, together, parameter, singular(plural));
  const reading = ofOne.find(({ method }) => method === 'GET');
  if (!found || !reading) return undefined;
  const status = successOf(endpointOf(context, reading)) ?? '200';
  const resource = found.row.resource ?? resourceNamedByPath(found.row, plural, reading, status, context);
  return resource === undefined ? undefined : { path, parameter, resource, field: found.field };
}

const whole = (shape: Json | undefined): Json | undefined => shape;

/** A thing whose shape has no name gets one of its path: `/postcards` holds each `postcard`. */
export function resourceNamedByPath(
  row: ShownRow,
  plural: string,
  operation: SourceOperation,
  status: string,
  context: InferenceContext,
): string | undefined {
  const properties = context.written.propertiesOf(row.shape);
  if (properties === undefined || !isMap(row.shape)) return undefined;
  const noun = singular(plural) || 'thing';
  const again = sameThing(context, noun, properties.all);
  if (again) {
    const fields = made(documentFields(context.resources, noun));
    for (const [field, inner] of Object.entries(properties.all)) if (!Object.hasOwn(fields, field)) fields[field] = inner;
    again.required = properties.required.filter((one) => Array.isArray(again.required) && again.required.includes(one));
    return noun;
  }
  const name = context.names.free(noun);
  const at = below('/resources', name);
  const answer = below(below(placeOfEndpoint(operation), 'response'), status);
  const origin = context.trail.origin(below(answer, 'shape')) ?? operation.map.at;
  const fields = Object.assign(newMap(), properties.all);
  const entry: OpenMap = { fields, required: [...properties.required], additionalProperties: true };
  context.resources[name] = entry;
  namedByPath.add(entry);
  context.trail.infer(at, resourceBehindPath.name, origin, 0.8);
  return name;
}

/** The resources that have their names of paths. */
const namedByPath = new WeakSet<object>();

/**
 * A resource that has its name of another path that ends in the same word, and nearly the same fields: `/admin/groups/{id}` and `/groups/{name}` are
 * about the same things, each written out where it is answered.
 */
function sameThing(
  { written, resources }: InferenceContext,
  noun: string,
  fields: Readonly<Record<string, Json>>,
): OpenMap | undefined {
  const entry = Object.hasOwn(resources, noun) ? resources[noun] : undefined;
  if (!isMap(entry) || !namedByPath.has(entry)) return undefined;
  const known = documentFields(resources, noun);
  const shared = Object.keys(fields).filter(
    (name) => Object.hasOwn(known, name) && written.typeOf(known[name]) === written.typeOf(fields[name]),
  ).length;
  const fewer = Math.min(Object.keys(known).length, Object.keys(fields).length);
  return shared >= sharedLeast && shared >= alikeLeast * fewer ? made(entry) : undefined;
}

const sharedLeast = 4;
const alikeLeast = 0.8;

/** `/apps/{app}/endpoints`: each endpoint belongs to an app, also where answers do not say to which. */
export const parentInPath: InferenceRule = {
  name: 'parent-in-path',
  says: 'A parameter of a path that is no field of the resource is its parent: a reference that is kept and not shown; a text where paths name things of two kinds so.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      if (!effect || !('resource' in effect)) continue;
      const identity = typeof endpoint.identity === 'string' ? endpoint.identity : undefined;
      for (const name of boundParameters(operation, effect.verb, identity)) addParent(context, operation, effect.resource, name);
    }
  },
};

function addParent(context: InferenceContext, operation: SourceOperation, name: string, parameter: string): void {
  const fields = made(documentFields(context.resources, name));
  const parent = parentOf(context, operation, parameter);
  if (Object.hasOwn(fields, parameter)) {
    if (parent !== undefined && isOtherParent(fields[parameter], parent)) fields[parameter] = { type: 'string', visible: 'none' };
    return;
  }
  fields[parameter] =
    parent === undefined || parent === name ? { type: 'string', visible: 'none' } : { ref: parent, visible: 'none' };
  const from = operation.parameters.find((one) => one.name === parameter)?.map.at ?? operation.map.at;
  context.trail.infer(
    below(below(below('/resources', name), 'fields'), parameter),
    parentInPath.name,
    from,
    parent === undefined ? 0.5 : 0.7,
  );
}

/** `/people/{owner}/names` and `/firms/{owner}/names`: what stands below things of two kinds names one of either, which no one reference says. */
function isOtherParent(known: Json | undefined, parent: string): boolean {
  return isMap(known) && known.visible === 'none' && typeof known.ref === 'string' && known.ref !== parent;
}

/** The resource of the collection that the parameter tells the things of apart. */
function parentOf(context: InferenceContext, { path, parameters }: SourceOperation, parameter: string): string | undefined {
  const { segments } = pathParts(path);
  const index = segments.findIndex((segment) => wholeParameter(segment) === parameter);
  const collection = index < 1 ? undefined : collectionAt(context, `/${segments.slice(0, index).join('/')}`);
  const resource = collection && context.resources[collection.resource];
  if (!collection || !isMap(resource) || !isMap(resource.identifier)) return undefined;
  // A parameter that is a part of a name alone refers to nothing.
  if (collection.field === 'name' && collection.identity !== undefined) return undefined;
  // `/repositories/{workspace}/{slug}`: what is listed below a workspace, and told by what follows it, is what `/repositories` lists.
  const isScope =
    wholeParameter(segments[index + 1]) !== undefined &&
    collectionAt(context, `/${segments.slice(0, index + 1).join('/')}`)?.resource === collection.resource;
  if (isScope) return undefined;
  // What is asked for as a text is no reference to a thing that is told by its number, unless it says that it is its identifier.
  const field = String(resource.identifier.field);
  const isNumber = context.written.typeOf(documentFields(context.resources, collection.resource)[field]) === 'integer';
  const schema = parameters.find((one) => one.in === 'path' && one.name === parameter)?.schema.value;
  const isText = isMap(schema) && schema.type === 'string';
  return isNumber && isText && wordsOfName(parameter).at(-1) !== 'id' ? undefined : collection.resource;
}

/**
 * `/namespaces/{namespace}/maps/{name}` is about a thing whose name stands in one of its maps, as `metadata.name` does: it is made and
 * answered whole, and nothing at its top tells it from others. It is known by its path, which the map's name ends.
 */
function innerNamed(
  context: InferenceContext,
  path: string,
  ofOne: readonly SourceOperation[],
  together: readonly SourceOperation[],
): Collection | undefined {
  const reading = ofOne.find(({ method }) => method === 'GET');
  const making = together.find(({ method }) => method === 'POST');
  const { last: parameter, parameters } = pathParts(reading?.path ?? '');
  if (!reading || !making || parameter === undefined) return undefined;
  const endpoint = endpointOf(context, reading);
  const resource = context.written.resourceOf(shapeOfAnswer(endpoint, successOf(endpoint)));
  // What is sent is what is answered: the whole thing, no envelope of it.
  if (resource === undefined || context.written.resourceOf(endpointOf(context, making).request) !== resource) return undefined;
  const entry = context.resources[resource];
  const fields = documentFields(context.resources, resource);
  const holder = holderOf(context, resource, parameter);
  if (!isMap(entry) || entry.identifier !== undefined || holder === undefined || Object.hasOwn(fields, 'key')) return undefined;
  const parents = parameters.slice(0, -1).map((name) => `params.${name} + '/' + `);
  const named = `(has(request.${holder}) && has(request.${holder}.${parameter}) ? request.${holder}.${parameter} : '')`;
  const set = { create: `${parents.join('')}${named}` };
  context.resources[resource] = {
    identifier: { field: 'key', generate: 'client' },
    ...entry,
    fields: Object.assign(made(fields), { key: { type: 'string', visible: 'none', set } }),
  };
  const at = below('/resources', resource);
  for (const fact of [below(at, 'identifier'), below(below(at, 'fields'), 'key')])
    context.trail.infer(fact, 'resource-behind-path', reading.map.at, 0.7);
  return { path, parameter, resource, identity: `${parents.join('')}params.${parameter}` };
}

/** The one map of a resource that has a text of this name, where the resource itself has none. */
function holderOf({ written, resources }: InferenceContext, resource: string, parameter: string): string | undefined {
  const fields = documentFields(resources, resource);
  if (!/^[A-Za-z_]\w*$/.test(parameter) || Object.hasOwn(fields, parameter) || Object.hasOwn(fields, 'id')) return undefined;
  const holders = Object.keys(fields).filter((name) => {
    const inner = written.propertiesOf(fields[name])?.all[parameter];
    return inner !== undefined && written.typeOf(inner) === 'string' && /^(?:meta|metadata|properties|info)$/i.test(name);
  });
  return holders.length === 1 ? holders[0] : undefined;
}
