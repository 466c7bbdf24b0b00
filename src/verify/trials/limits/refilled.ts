import { statedValue } from '../../../parts/fact.ts';
import { perName, type Quota } from '../../../parts/limits.ts';
import { namesOperation, resourceOfEffect } from '../../../parts/operations.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { type QuotaCount, retryAfterMs } from '../../exchange/lanes.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { callerContext } from '../../model/access.ts';
import type { Model } from '../../model/model.ts';
import { countsCaller, ratesFor } from './counted.ts';
import { windowAt } from './quota-windows.ts';

/** The window has ended for sure by then. */
const marginMs = 1_000;

/** When what a stated quota refused is given again, by the service's clock; whatever status it is refused with, and whether or not it says when. */
export function refilledAtMs(model: Model, exchange: TrialExchange): number | undefined {
  const { endpoint, toMs } = exchange;
  const counting = endpoint && isForQuota(model, exchange) ? quotasOf(model, { endpoint }) : [];
  return counting.length === 0 ? undefined : Math.max(...counting.map((quota) => windowAt(quota, toMs).endMs)) + marginMs;
}

/** The stated quotas that count a request, each told apart by whom it counts; none of which that is not known, as where a value of the row decides. */
export function quotaCounts(model: Model, { endpoint, caller }: Pick<RequestPlan, 'endpoint' | 'caller'>): readonly QuotaCount[] {
  return quotasOf(model, { ...(endpoint && { endpoint }), ...(caller && { caller }) }).flatMap((quota) => {
    const whose = countedAs(model, quota, caller);
    if (whose === undefined) return [];
    const says = `${quota.limit} a ${quota.window} per ${perName(quota)}`;
    return [{ key: `${quota.at} ${whose}`, says: caller ? `${says}, for ${caller.name}` : says }];
  });
}

/**
 * What a refusal says to be used up, and until when at the least: by the end of the window, or earlier where the refusal says so. Of several quotas nobody knows which it was, nor of a
 * resource of which there may be only so many rows.
 */
export function usedUpBy(
  model: Model,
  exchange: TrialExchange,
): { readonly count: QuotaCount; readonly untilMs: number } | undefined {
  const { endpoint, toMs } = exchange;
  if (!endpoint || !isForQuota(model, exchange)) return undefined;
  const [quota, ...more] = quotasOf(model, exchange);
  const [count] = quotaCounts(model, exchange);
  const does = statedValue(endpoint.does);
  const areRowsCounted = (statedValue(model.spec.limits.rows) ?? []).some(({ of }) => of === resourceOfEffect(does));
  if (!quota || !count || more.length > 0 || areRowsCounted) return undefined;
  const endMs = windowAt(quota, toMs).endMs;
  const toldMs = retryAfterMs(exchange);
  return { count, untilMs: (toldMs === undefined ? endMs : Math.min(endMs, toMs + toldMs)) + marginMs };
}

function isForQuota(model: Model, exchange: TrialExchange): boolean {
  const { endpoint, status, caller } = exchange;
  const isStated = (statedValue(model.spec.limits.quota) ?? []).length > 0;
  if (!endpoint || status < 400 || !isStated) return false;
  const operation = model.operationOf(endpoint);
  const code = model.refusals.of('limit.quota', operation)?.code.name;
  if (code !== undefined && model.refusals.showsCodes) return model.refusals.codeIn(exchange) === code;
  // Where no code tells it apart, it is the quota that refuses so what no rate counts.
  const told = model.refusals.codeIn(exchange);
  const isNamed = told !== undefined && model.refusals.named(told, operation) !== undefined;
  return status === 429 && !isNamed && ratesFor(model, operation, caller).length === 0;
}

/** The quotas that count an operation, and a caller where one is given. */
function quotasOf(model: Model, { endpoint, caller }: Pick<RequestPlan, 'endpoint' | 'caller'>): readonly Quota[] {
  const operation = endpoint && model.operationOf(endpoint);
  if (!operation) return [];
  const stated = statedValue(model.spec.limits.quota) ?? [];
  return stated.filter(
    (quota) =>
      (quota.on === undefined || namesOperation(quota.on, operation)) &&
      (caller === undefined || countsCaller(model, quota, operation, caller) !== 'no'),
  );
}

/** Who is counted together; nothing where that is reckoned of something else than who asks. */
function countedAs(model: Model, { per, by, if: condition }: Quota, caller: TrialCaller | undefined): string | undefined {
  if (condition) return undefined;
  if (by !== undefined) {
    const told = caller && model.expressions.evaluate(by, undefined, { context: callerContext(caller) });
    return typeof told === 'object' ? JSON.stringify(told.value) : undefined;
  }
  if (per === 'user') return caller?.user;
  if (per === 'caller') return caller?.id ?? caller?.name;
  return '';
}
