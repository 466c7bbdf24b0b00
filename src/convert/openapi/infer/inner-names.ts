import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import { type Collection, endpointOf, type InferenceContext, shapeOfAnswer, successOf } from './context.ts';
import { pathParts } from './paths.ts';
import { documentFields } from './rows.ts';

/**
 * `/namespaces/{namespace}/maps/{name}` is about a thing whose name stands in one of its maps, as `metadata.name` does: it is made and
 * answered whole, and nothing at its top tells it from others. It is known by its path, which the map's name ends.
 */
export function innerNamed(
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
