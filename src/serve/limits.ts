import { statedValue } from '../parts/fact.ts';
import type { Limits } from '../parts/limits.ts';
import type { Operation } from '../parts/operations.ts';
import type { Clock } from './clock.ts';
import { type Exchange, type Plan, type Refusal, refused } from './exchange.ts';
import { compileDeadlines, type Within } from './limits/deadlines.ts';
import { compileAddressOf } from './limits/forwarded.ts';
import { compileQuotas, type Spend } from './limits/quotas.ts';
import type { RateCounters } from './limits/rate-counters.ts';
import { type Counting, compileRates, type OperationRates, rateHeaders } from './limits/rates.ts';

/** What limits need of the service that they are part of. */
export interface LimitsSetting {
  readonly clock: Clock;
  readonly counters: RateCounters;
  readonly onFailure: (failure: unknown, requestId: string) => void;
}

/** What the limits part does on a request's road; what is not there costs nothing. */
export interface CompiledLimits {
  /** Step 3: rates per address and for everyone, failed logins included. */
  readonly first: ((counting: Counting, plan: Pick<Plan, 'operation'>, nowMs: number) => Refusal | undefined) | undefined;
  /** Step 5: rates per caller and user. */
  readonly second: ((exchange: Exchange) => Refusal | undefined) | undefined;
  /** Header fields that tell of the rates that counted this request. */
  readonly headers: ((exchange: Exchange) => Readonly<Record<string, string>> | undefined) | undefined;
  /** Steps 8 to 15: carries out a request, and refuses it with `limit.time` where that takes too long. */
  readonly within: Within | undefined;
  /** Step 15, inside the change: uses the quotas of an operation; undefined where none counts it. */
  readonly spendOf: (operation: Operation) => Spend | undefined;
}

/** Compiles what the limits part of a document states of rates, time-outs and quotas. Sizes and pages are looked at where they are read. */
export function compileLimits(limits: Limits, { clock, counters, onFailure }: LimitsSetting): CompiledLimits {
  const addressOf = compileAddressOf(statedValue(limits.trustProxies) ?? []);
  const rates = statedValue(limits.rate) ?? [];
  const ratesOf = compileRates(rates, counters, addressOf);
  const byPlan = new Map<Pick<Plan, 'operation'>, OperationRates>();
  const of = (plan: Pick<Plan, 'operation'>): OperationRates => {
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
      first: (counting, plan, nowMs) => of(plan).first(counting, nowMs),
      second: (exchange) => of(exchange.plan).second(exchange, exchange.caller, exchange.nowMs),
      headers: ({ counted }) => counted && rateHeaders(counted),
    }),
    ...(requestMs !== undefined && { within: compileDeadlines(requestMs, clock, refused, onFailure) }),
    spendOf: compileQuotas(statedValue(limits.quota) ?? [], addressOf),
  };
}
