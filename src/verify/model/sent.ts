import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { boundByPath, identifierParameter, isWritable, pathParameters } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import type { Exchange } from '../script/exchange.ts';
import type { Model } from './model.ts';

/** The fields that a body sets, as its caller may write them; nothing where the body has a shape of its own, or is no JSON. */
export function sentFields(model: Model, resource: Resource, exchange: Exchange): Readonly<Record<string, Json>> | undefined {
  const { endpoint, sent } = exchange;
  const isOwn = endpoint !== undefined && (endpoint.request.standing !== 'open' || endpoint.request.question !== undefined);
  if (isOwn || !isMap(sent.json) || !isJson(sent.headers['content-type'])) return undefined;
  const caller = model.readerOf(exchange);
  const fields = Object.entries(sent.json).filter(([name]) => {
    const field = entryOf(resource.fields, name);
    if (!field || !isWritable(model.spec, resource, field)) return false;
    return field.writable === undefined || (caller !== undefined && field.writable.includes(caller.user));
  });
  return Object.fromEntries(fields);
}

function isJson(type: string | undefined): boolean {
  return type === undefined || /^application\/(?:[\w.-]+\+)?json/.test(type);
}

/** The fields that the path of an exchange binds, and their values. */
export function boundFields(model: Model, { endpoint, sent }: Exchange): ReadonlyMap<string, Json> {
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
