import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import { generators } from '../../../kinds/generators/all.ts';
import type { Generator } from '../../../kinds/generators/kind.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import { spelledParameters } from '../read/spread-names.ts';
import {
  type Collection,
  endpointOf,
  type InferenceContext,
  type InferenceRule,
  placeOfEndpoint,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { pathParts, singular } from './paths.ts';
import { documentFields, listIn } from './rows.ts';

/** The things of a collection whose names are paths: `name` tells them apart, and a path says it whole. */
export function spreadCollection(
  context: InferenceContext,
  path: string,
  ofOne: readonly SourceOperation[],
  together: readonly SourceOperation[],
): Collection | undefined {
  const spread = ofOne.find((one) => one.spread !== undefined);
  const { last: parameter } = pathParts(spread?.path ?? '');
  if (!spread?.spread || parameter === undefined) return undefined;
  const { collections } = spread.spread;
  const making = together.find(({ method, body }) => method === 'POST' && body !== undefined);
  const shapes = [
    ...(making ? [endpointOf(context, making).request] : []),
    ...[...ofOne.filter(({ method }) => method === 'GET'), ...ofOne.filter(({ method }) => method !== 'GET')].map((one) =>
      answerOf(context, one),
    ),
    ...together
      .filter(({ method }) => method === 'GET')
      .map((one) => listIn(context.written, answerOf(context, one), collections.at(-1))?.items),
  ];
  const resource = shapes
    .map((shape) => context.written.resourceOf(shape))
    .find((one) => one !== undefined && hasName(context, one));
  if (resource === undefined) return undefined;
  return { path, parameter, resource, field: 'name', identity: nameIn(collections, spelledParameters(collections)) };
}

function answerOf(context: InferenceContext, operation: SourceOperation): Json | undefined {
  const endpoint = endpointOf(context, operation);
  return shapeOfAnswer(endpoint, successOf(endpoint));
}

function hasName({ resources, written }: InferenceContext, resource: string): boolean {
  return written.typeOf(documentFields(resources, resource).name) === 'string';
}

/** A name as an expression over the parameters of a path; the last part of it may come from elsewhere. */
function nameIn(collections: readonly string[], parameters: readonly string[], last?: string): string {
  const parts = collections.map((collection, at) => {
    const value = last !== undefined && at === collections.length - 1 ? last : `params.${parameters[at]}`;
    return `'${at === 0 ? '' : '/'}${collection}/' + ${value}`;
  });
  return parts.join(' + ');
}

/** What `name` of a new thing is, and which operations are said of things of other collections. */
export const namesThatArePaths: InferenceRule = {
  name: 'names-that-are-paths',
  says: 'One parameter that holds a name of several segments (`/v1/{parent}/topics`, `/v1/{name}`) is spelled out by the collections that the identifier of its operation goes through (`service.projects.topics.create`), and tells things by their whole name; what a source can say of one kind at such a path alone is the same for each kind that is made in a collection of its own. A new thing has the name that it is sent, unless that is read-only or its words say that the service makes it, else one below its parent that ends with what the query says (`topicId`), or with something made.',
  infer(context) {
    for (const operation of context.operations)
      if (operation.spread?.isOfOther)
        context.trail.infer(placeOfEndpoint(operation), namesThatArePaths.name, operation.map.at, 0.7);
    const named = new Map<string, Collection[]>();
    for (const collection of context.collections.values())
      if (collection.identity !== undefined && collection.field === 'name')
        named.set(collection.resource, [...(named.get(collection.resource) ?? []), collection]);
    for (const [resource, collections] of named) setName(context, resource, collections);
  },
};

/** The field that a name ends with where nobody says one. */
const madeUp = 'name_end';

/** How it is made: as what is never twice the same. */
const generated = (generators as readonly Generator[])
  .map(({ recognise }) => recognise?.({ format: 'uuid', pattern: undefined })?.template)
  .find((template) => template !== undefined);

function setName(context: InferenceContext, name: string, collections: readonly Collection[]): void {
  const resource = context.resources[name];
  if (!isMap(resource) || !isMap(resource.identifier) || resource.identifier.field !== 'name') return;
  const fields = made(documentFields(context.resources, name));
  const shape = fields.name;
  if (shape === undefined || (isMap(shape) && shape.set !== undefined) || Object.hasOwn(fields, madeUp)) return;
  const isOfService = isMap(shape) && (shape.readOnly === true || saysMade.test(String(shape.description ?? '')));
  const creations = collections.flatMap((one) => creationsOf(context, one, isOfService));
  if (creations.length === 0) return;
  const create = creations.reduceRight(
    (other, { told, below: of }) => (other === '' || of === undefined ? told : `(has(params.${of}) ? ${told} : ${other})`),
    '',
  );
  fields.name = { ...(isMap(shape) ? shape : { type: 'string' }), set: { create } };
  fields[madeUp] = { type: 'string', visible: 'none', ...(generated !== undefined && { generate: generated }) };
  const parent = collections.length === 1 ? parentNamed(context, collections[0]!) : undefined;
  if (parent && parent.resource !== name)
    fields[madeBelow] = { ref: parent.resource, visible: 'none', set: { create: parent.named } };
  context.resources[name] = { ...resource, identifier: { field: 'name', generate: 'client' } };
  const at = below('/resources', name);
  for (const field of ['name', madeUp, ...(parent ? [madeBelow] : [])])
    context.trail.infer(
      below(below(at, 'fields'), field),
      namesThatArePaths.name,
      context.trail.origin(below(below(at, 'fields'), 'name')) ?? context.trail.origin(at) ?? '',
      0.8,
    );
}

/** The field that refers to what a name is below. */
const madeBelow = 'name_parent';

/** The thing that others are made below, where such things are known, and its name. */
function parentNamed(context: InferenceContext, { path }: Collection): { resource: string; named: string } | undefined {
  const collections = context.byPath.get(`${path}/{}`)?.[0]?.spread?.collections.slice(0, -1) ?? [];
  const above = [...context.collections.values()].find((one) => `${one.path}/{}` === path.slice(0, path.lastIndexOf('/')));
  if (above?.field !== 'name' || above.identity === undefined) return undefined;
  return { resource: above.resource, named: nameIn(collections, spelledParameters(collections)) };
}

interface Creation {
  /** The name that a new thing has, as an expression. */
  readonly told: string;
  /** The parameter of its path that no other creation of such things has. */
  readonly below: string | undefined;
}

/** Words that say of a name that whoever makes the thing does not choose it. */
const saysMade =
  /\b(?:generated|assigned|chosen|created|provided|set) by the (?:system|service|server|api)\b|\b(?:server|system|service)[- ](?:assigned|generated|set)\b/i;

function creationsOf(context: InferenceContext, { path, parameter, resource }: Collection, isOfService: boolean): Creation[] {
  const [one] = context.byPath.get(`${path}/{}`) ?? [];
  const collections = one?.spread?.collections;
  if (collections === undefined) return [];
  const parameters = spelledParameters(collections);
  const posts = (context.byPath.get(path) ?? []).filter(({ method }) => method === 'POST');
  const puts = (context.byPath.get(`${path}/{}`) ?? []).filter(({ method }) => method === 'PUT');
  return [
    ...puts.map(() => ({ told: nameIn(collections, parameters), below: parameter })),
    ...posts.map((post) => {
      const asked = idParameter(post, collections.at(-1) ?? '');
      // What the service makes is there by then, and may be absent as far as a document can say.
      const made = `(has(next.${madeUp}) ? string(next.${madeUp}) : '')`;
      const end = asked === undefined ? made : `(has(params.${asked}) ? params.${asked} : ${made})`;
      const named = nameIn(collections, parameters, end);
      if (isOfService) return { told: named, below: parameters.at(-2) };
      const holders = holdersOf(context, post, resource);
      const sent = [...holders, 'name'].map((_, at, all) => `request.${all.slice(0, at + 1).join('.')}`);
      const whole = sent.at(-1);
      return {
        told: `(${sent.map((step) => `has(${step})`).join(' && ')} && ${whole} != '' ? ${whole} : ${named})`,
        below: parameters.at(-2),
      };
    }),
  ];
}

/** The member of a body that holds the new thing; none where the body is it. */
function holdersOf(context: InferenceContext, post: SourceOperation, resource: string): string[] {
  const { request } = endpointOf(context, post);
  if (request === undefined || context.written.resourceOf(request) === resource) return [];
  const members = Object.entries(context.written.propertiesOf(request)?.all ?? {});
  return members
    .filter(([name, one]) => /^[A-Za-z_]\w*$/.test(name) && context.written.resourceOf(one) === resource)
    .map(([name]) => name)
    .slice(0, 1);
}

/** `?topicId=`: what a new topic is called. */
function idParameter({ parameters }: SourceOperation, collection: string): string | undefined {
  const own = parameters.filter((one) => one.in === 'query' && /^[A-Za-z_]\w*Id$/.test(one.name) && one.name !== 'requestId');
  const thing = `${singular(collection)}id`.toLowerCase();
  return (own.find(({ name }) => name.toLowerCase() === thing) ?? (own.length === 1 ? own[0] : undefined))?.name;
}
