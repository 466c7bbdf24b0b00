import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import { endpointOf, type InferenceContext, shapeOfAnswer, successOf } from './context.ts';
import { documentFields, isAnyMap } from './rows.ts';

/**
 * Things that their answers do not tell apart. Where they are made at the path that names them, or below it, and read there, the
 * name in the path is their identifier, which is kept and not shown; of answers that are any map at all, the fields are what is sent.
 */
export function unshownResource(
  context: InferenceContext,
  ofOne: readonly SourceOperation[],
  together: readonly SourceOperation[],
  parameter: string,
  noun: string,
): string | undefined {
  const reading = ofOne.find(({ method }) => method === 'GET');
  const putting = ofOne.find(({ method, body }) => method === 'PUT' && body !== undefined);
  const posting = together.find(({ method, body }) => method === 'POST' && body !== undefined);
  const making = posting ?? putting;
  if (!reading || !making) return undefined;
  const endpoint = endpointOf(context, reading);
  const shape = shapeOfAnswer(endpoint, successOf(endpoint));
  if (isAnyMap(context.written, bareOf(context, shape))) return ofAnyMap(context, making, parameter, noun);
  // What the service names has to tell its name when it is made.
  return posting === undefined && ofOne.some(({ method }) => method === 'DELETE')
    ? namedInPath(context, shape, parameter, noun, reading, 'string')
    : undefined;
}

/** What an answer of one member holds: `{ data: … }`; else the answer. */
function bareOf({ written }: InferenceContext, shape: Json | undefined): Json | undefined {
  const members = Object.values(written.propertiesOf(shape)?.all ?? {});
  return members.length === 1 ? members[0] : shape;
}

/** A thing of which the source says nothing but that it is a map: it has what is sent, and an identifier. */
function ofAnyMap(context: InferenceContext, making: SourceOperation, parameter: string, noun: string): string | undefined {
  const { request } = endpointOf(context, making);
  const sent = context.written.propertiesOf(request)?.all;
  const isSaid = request !== undefined && Object.keys(context.written.expand(request)).length > 0;
  if (sent === undefined && isSaid && !isAnyMap(context.written, request)) return undefined;
  const field = making.method === 'POST' ? 'id' : parameter;
  const fields: OpenMap = Object.assign(newMap(), { [field]: 'string' }, sent);
  return resourceOf(context, noun, { fields, required: [field], additionalProperties: true }, making.map.at);
}

/** A thing with known properties that does not show what it is called: its name in the path is kept beside them. */
export function namedInPath(
  context: InferenceContext,
  shape: Json | undefined,
  parameter: string,
  noun: string,
  reading: SourceOperation,
  type: 'string' | 'integer',
): string | undefined {
  const { written } = context;
  const bare = rowIn(context, shape);
  const properties = written.propertiesOf(bare);
  if (properties === undefined) return undefined;
  const hidden = { type, visible: 'none' };
  const known = written.resourceOf(bare);
  if (known === undefined) {
    const fields = Object.assign(newMap(), { [parameter]: hidden }, properties.all);
    const required = [...properties.required];
    return resourceOf(context, noun, { fields, required, additionalProperties: true }, reading.map.at);
  }
  made(documentFields(context.resources, known))[parameter] = hidden;
  context.trail.infer(below(below(below('/resources', known), 'fields'), parameter), 'resource-behind-path', reading.map.at, 0.7);
  return known;
}

/** The one map with a name in an answer, or the answer itself. */
function rowIn({ written }: InferenceContext, shape: Json | undefined): Json | undefined {
  if (written.resourceOf(shape) !== undefined) return shape;
  const members = Object.values(written.propertiesOf(shape)?.all ?? {});
  const named = members.filter((one) => written.resourceOf(one) !== undefined && written.itemsOf(one) === undefined);
  return named.length === 1 ? named[0] : shape;
}

function resourceOf(context: InferenceContext, noun: string, entry: OpenMap | Json, from: string): string {
  const name = context.names.free(noun);
  if (isMap(entry)) context.resources[name] = entry;
  context.trail.infer(below('/resources', name), 'resource-behind-path', from, 0.6);
  return name;
}
