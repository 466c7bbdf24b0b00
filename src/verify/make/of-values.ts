import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { boundByPath } from '../../parts/payload.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Model } from '../model/model.ts';

/** Whether a refusal is by a rule of the service's own, or since another row has these values, and not for anything that all services refuse. */
export function isOfValues(model: Model, endpoint: Endpoint, exchange: TrialExchange): boolean {
  const { refusals } = model;
  const code = refusals.codeIn(exchange);
  const stated = code === undefined ? undefined : refusals.named(code, model.operationOf(endpoint));
  const { when, if: condition } = stated?.rule ?? {};
  if (when === undefined) return false;
  if (when.standing !== 'open') return (statedValue(when) ?? []).includes('resource.exists');
  if (!condition) return true;
  // What stands in the path is there already, whatever is sent.
  const bound = new Set(boundByPath(model.spec, endpoint));
  const reads = model.expressions.readsOf(condition, endpoint.operation);
  return !reads.every(({ root, path: [name = ''] }) => root === 'caller' || (root === 'next' && bound.has(name)));
}
