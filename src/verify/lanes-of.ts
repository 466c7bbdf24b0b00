import { statedValue } from '../parts/fact.ts';
import type { Rate } from '../parts/limits.ts';
import type { TrialCaller } from './exchange/callers.ts';
import type { Lane } from './exchange/lanes.ts';
import type { RequestPlan } from './exchange/plan.ts';
import type { Model } from './model/model.ts';
import { costOf, ratesFor } from './trials/limits/counted.ts';

/** The stated rates that count a request, each told apart by whom it counts. */
export function lanesOf(model: Model, { endpoint, caller }: RequestPlan): readonly Lane[] {
  if (!endpoint || (statedValue(model.spec.limits.rate) ?? []).length === 0) return [];
  const operation = model.operationOf(endpoint);
  return ratesFor(model, operation, caller).map((rate) => ({
    key: `${rate.at} ${countedAs(rate, caller)}`,
    limit: Math.max(1, Math.floor(rate.limit / Math.max(costOf(rate, operation), 1e-9))),
    windowMs: rate.windowMs,
  }));
}

/** Who is counted together. */
function countedAs({ per }: Rate, caller: TrialCaller | undefined): string {
  if (per === 'user') return caller?.user ?? '';
  return per === 'caller' ? (caller?.id ?? caller?.name ?? '') : '';
}
