import type { Json } from '../../document/document.ts';
import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { identifierParameter } from '../../parts/payload.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { Model } from '../model/model.ts';
import { isMaking, rowIn } from '../model/row-shown.ts';
import { madeKey } from './made.ts';

/** The resource of a row, of which `madeKey` made the key. */
export function resourceIn(key: string): string {
  return key.split('\n', 1)[0] ?? '';
}

/** The rows that an exchange made. */
export function keysMade(model: Model, exchange: TrialExchange): string[] {
  const resource = resourceOfEffect(exchange.endpoint && statedValue(exchange.endpoint.does));
  if (resource === undefined || !isDone(exchange) || !isMaking(exchange)) return [];
  const last = exchange.endpoint && identifierParameter(exchange.endpoint);
  const id = rowIn(exchange)?.[model.identifierField(resource)] ?? (last === undefined ? undefined : exchange.sent.path[last]);
  return id === undefined ? [] : [madeKey({ resource, id })];
}

/** The rows that a request is about other than by reading them, or by making something below them. */
export function claimedBy(model: Model, { endpoint }: RequestPlan, path: Readonly<Record<string, Json>>): string[] {
  if (!endpoint) return [];
  const effect = statedValue(endpoint.does);
  if (effect?.verb === 'read') return [];
  const last = identifierParameter(endpoint);
  const own = resourceOfEffect(effect);
  return Object.entries(path).flatMap(([name, id]) => {
    if (name === last) return own === undefined ? [] : [madeKey({ resource: own, id })];
    const parent = model.parentOf(endpoint, name);
    return parent !== undefined && (effect?.verb === 'list' || effect === undefined) ? [madeKey({ resource: parent, id })] : [];
  });
}
