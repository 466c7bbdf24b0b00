import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, isSame } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import { type Collection, endpointOf, type InferenceContext, type InferenceRule, placeOfEndpoint } from './context.ts';
import { pathParts } from './paths.ts';
import { documentFields } from './rows.ts';

/** `PUT /groups/{group}/boxes/{name}`: the same name in another group is another box. */
export const namesInPlace: InferenceRule = {
  name: 'names-in-place',
  says: 'Things that PUT alone makes, under names that whoever makes them chooses, below others or within what their path says besides, are told apart by all of it: the same name in another place is another thing.',
  infer(context) {
    const byResource = Map.groupBy(context.collections.values(), ({ resource }) => resource);
    for (const [resource, collections] of byResource) {
      const [collection] = collections;
      if (collection && collections.length === 1) tellByPlace(context, resource, collection);
    }
  },
};

/** The field that a whole place is kept in. */
const placeField = 'key';

function tellByPlace(context: InferenceContext, name: string, collection: Collection): void {
  const resource = context.resources[name];
  if (!isMap(resource) || !isMap(resource.identifier) || collection.identity !== undefined) return;
  const { field, generate } = resource.identifier;
  if (typeof field !== 'string' || (generate !== undefined && generate !== 'client')) return;
  const fields = made(documentFields(context.resources, name));
  if (context.written.typeOf(fields[field]) !== 'string' || Object.hasOwn(fields, placeField)) return;
  const about = operationsAbout(context, name);
  const ofOne = about.filter(({ verb }) => verb !== 'list');
  const making = ofOne.find(({ verb }) => verb === 'upsert')?.operation;
  const parameters = pathParts(making?.path ?? '').parameters;
  const last = parameters.at(-1);
  if (!making || last === undefined || parameters.length < 2 || pathParts(making.path).last !== last) return;
  // What another path tells apart as well, or what POST makes, is known by less.
  const isAlike = ofOne.every(
    ({ verb, operation }) =>
      verb !== 'create' && isSame(pathParts(operation.path).parameters, parameters) && !isSaid(context, operation),
  );
  if (!isAlike || !parameters.every((one) => /^[A-Za-z_]\w*$/.test(one))) return;
  const above = parameters.slice(0, -1);
  if (!above.every((one) => isHidden(fields[one]))) return;
  const identity = parameters.map((one) => `params.${one}`).join(" + '/' + ");
  const known = fields[field];
  fields[field] = { ...(isMap(known) ? known : { type: 'string' }), set: { create: `params.${last}` } };
  fields[placeField] = { type: 'string', visible: 'none', set: { create: identity } };
  context.resources[name] = { ...resource, identifier: { field: placeField, generate: 'client' } };
  context.collections.set(collection.path, { ...collection, field, identity });
  for (const { operation } of ofOne) {
    endpointOf(context, operation).identity = identity;
    context.trail.infer(below(placeOfEndpoint(operation), 'identity'), namesInPlace.name, operation.map.at, 0.7);
  }
  const at = below('/resources', name);
  for (const fact of [below(at, 'identifier'), below(below(at, 'fields'), placeField), below(below(at, 'fields'), field)])
    context.trail.infer(fact, namesInPlace.name, making.map.at, 0.7);
}

interface About {
  readonly verb: string;
  readonly operation: SourceOperation;
}

function operationsAbout(context: InferenceContext, resource: string): About[] {
  return context.operations.flatMap((operation): About[] => {
    const { does } = endpointOf(context, operation);
    const effect = typeof does === 'string' ? readEffect(does) : undefined;
    return effect && 'resource' in effect && effect.resource === resource ? [{ verb: effect.verb, operation }] : [];
  });
}

function isSaid(context: InferenceContext, operation: SourceOperation): boolean {
  return endpointOf(context, operation).identity !== undefined;
}

/** A field that a path gave its name, and that nobody sees. */
function isHidden(shape: Json | undefined): boolean {
  return isMap(shape) && shape.visible === 'none';
}
