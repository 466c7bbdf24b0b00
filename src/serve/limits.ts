import { statedValue } from '../parts/fact.ts';
import type { Limits } from '../parts/limits.ts';
import type { Clock } from './clock.ts';
import type { Meant } from './exchange.ts';
import type { CompiledLimits } from './hooks.ts';
import { compileDeadlines } from './limits/deadlines.ts';
import { compileAddressOf } from './limits/forwarded.ts';
import { compileQuotas } from './limits/quotas.ts';
import type { RateCounters } from './limits/rate-counters.ts';
import { compileRates, type OperationRates, rateHeaders } from './limits/rates.ts';
import { refused } from './runs/refused.ts';

/** What limits need of the service that they are part of. */
export interface LimitsSetting {
  readonly clock: Clock;
  readonly counters: RateCounters;
  readonly onFailure: (failure: unknown, requestId: string) => void;
}

/** Compiles what the limits part of a document states of rates, time-outs and quotas. Sizes and pages are looked at where they are read. */
export function compileLimits(limits: Limits, { clock, counters, onFailure }: LimitsSetting): CompiledLimits {
  const addressOf = compileAddressOf(statedValue(limits.trustProxies) ?? []);
  const rates = statedValue(limits.rate) ?? [];
  const ratesOf = compileRates(rates, counters, addressOf);
  const byPlan = new Map<Pick<Meant, 'operation'>, OperationRates>();
  const of = (plan: Pick<Meant, 'operation'>): OperationRates => {
    let found = byPlan.get(plan);
    if (!found) {
      found = ratesOf(plan.operation);
      byPlan.set(plan, found);
    }
    return found;
  };
  const { requestMs } = statedValue(limits.timeout) ?? {};
  return {
    ...{ first: undefined, second: undefined, headers: undefined, within: undefined },
    ...(rates.length > 0 && {
      first: (call, plan, nowMs) => of(plan).first(call, nowMs),
      second: ({ call, plan, caller, nowMs }) => of(plan).second(call, caller, nowMs),
      headers: ({ call: { counted } }) => counted && rateHeaders(counted),
    }),
    ...(requestMs !== undefined && { within: compileDeadlines(requestMs, clock, refused, onFailure) }),
    spendOf: compileQuotas(statedValue(limits.quota) ?? [], addressOf),
  };
}
