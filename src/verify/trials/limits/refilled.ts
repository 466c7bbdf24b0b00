import { statedValue } from '../../../parts/fact.ts';
import { namesOperation } from '../../../parts/operations.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { Model } from '../../model/model.ts';
import { windowAt } from './quota-windows.ts';

/** The window has ended for sure by then. */
const marginMs = 1_000;

/** When what a stated quota refused is given again, by the service's clock; whatever status it is refused with, and whether or not it says when. */
export function refilledAtMs(model: Model, exchange: TrialExchange): number | undefined {
  const { endpoint, status, toMs } = exchange;
  const stated = statedValue(model.spec.limits.quota) ?? [];
  if (!endpoint || status < 400 || stated.length === 0) return undefined;
  const operation = model.operationOf(endpoint);
  const code = model.refusals.of('limit.quota', operation)?.code.name;
  if (code === undefined || model.refusals.codeIn(exchange) !== code) return undefined;
  const counting = stated.filter(({ on }) => on === undefined || namesOperation(on, operation));
  return counting.length === 0 ? undefined : Math.max(...counting.map((quota) => windowAt(quota, toMs).endMs)) + marginMs;
}
