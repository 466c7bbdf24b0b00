import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import {
  type Context,
  endpointOf,
  extendAnswer,
  type InferenceRule,
  placeOfEndpoint,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { celOf } from './list-envelope.ts';

/** `{ ok: true, channel: … }` around the thing that was made, `{ id, deleted: true }` where it is gone. */
export const rowEnvelope: InferenceRule = {
  name: 'row-envelope',
  says: 'An answer about one thing that is no such resource holds it in a property, or tells its identifier and constants.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      const status = successOf(endpoint);
      if (!effect || !('resource' in effect) || effect.verb === 'list' || status === undefined) continue;
      const shape = shapeOfAnswer(endpoint, status);
      if (shape === undefined || shows(context, shape, effect.resource)) continue;
      const data = dataOf(context, shape, effect.resource, effect.verb === 'delete');
      if (data === undefined) continue;
      const at = below(below(placeOfEndpoint(operation), 'response'), status);
      const from = context.trail.origin(below(at, 'shape')) ?? operation.map.at;
      extendAnswer(context, operation, status, { data });
      context.trail.infer(below(at, 'data'), rowEnvelope.name, from, 0.7);
    }
  },
};

/** Whether an answer is the thing itself, or a union that the thing is one of. */
function shows(context: Context, shape: Json, resource: string): boolean {
  if (context.written.resourceOf(shape) === resource) return true;
  return context.written.alternativesOf(shape)?.some((one) => shows(context, one, resource)) ?? false;
}

/** What makes each property of such an answer; nothing where one is left over that it must carry, or that the thing has. */
function dataOf(context: Context, shape: Json, resource: string, isGone: boolean): OpenMap | undefined {
  const properties = context.written.propertiesOf(shape);
  if (properties === undefined) return undefined;
  const data: OpenMap = newMap();
  for (const [name, inner] of Object.entries(properties.all)) {
    const expression = expressionOf(context, name, inner, resource, isGone);
    if (expression !== undefined) data[name] = expression;
    else if (properties.required.includes(name) || isField(context, resource, name)) return undefined;
  }
  return Object.keys(data).length > 0 && speaksOfRow(data) ? data : undefined;
}

function isField({ resources }: Context, resource: string, name: string): boolean {
  const entry = resources[resource];
  return isMap(entry) && isMap(entry.fields) && Object.hasOwn(entry.fields, name);
}

/** Constants alone would be an answer about nothing. */
function speaksOfRow(data: OpenMap): boolean {
  return Object.values(data).some((expression) => /\b(?:result|resource)\b/.test(String(expression)) || expression === 'true');
}

function expressionOf(context: Context, name: string, shape: Json, resource: string, isGone: boolean): string | undefined {
  const { written, resources } = context;
  const constant = written.constantOf(shape);
  if (constant !== undefined) return celOf(constant.value);
  if (/^(?:is_?)?deleted$/i.test(name) && written.typeOf(shape) === 'boolean') return isGone ? 'true' : undefined;
  const row = isGone ? 'resource' : 'result';
  if (!isGone && shows(context, shape, resource)) return 'result';
  const list = written.itemsOf(shape);
  if (!isGone && list !== undefined && shows(context, list, resource)) return '[result]';
  if (!isGone && /^total_?(?:count)?$/i.test(name) && written.typeOf(shape) === 'integer') return '1';
  const entry = resources[resource];
  if (!isMap(entry) || !isMap(entry.fields) || !Object.hasOwn(entry.fields, name)) return undefined;
  const isSame = written.typeOf(entry.fields[name]) !== undefined && written.typeOf(entry.fields[name]) === written.typeOf(shape);
  if (!isSame || !/^[A-Za-z_]\w*$/.test(name) || written.propertiesOf(shape) !== undefined) return undefined;
  const required = Array.isArray(entry.required) && entry.required.includes(name);
  if (required) return `${row}.${name}`;
  // A thing always has its identifier, whether or not the source says that answers do.
  if (!isMap(entry.identifier) || entry.identifier.field !== name) return undefined;
  return `has(${row}.${name}) ? ${row}.${name} : ${written.typeOf(shape) === 'string' ? "''" : '0'}`;
}
