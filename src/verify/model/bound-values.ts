import type { Json } from '../../document/document.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { boundByPath, identifierParameter, pathParameters } from '../../parts/payload.ts';
import { identifierType } from '../../parts/schemas.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Model } from './model.ts';

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
