import { type CalendarWindow, compileCalendar } from '../../kinds/limits/calendar.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Limits, Quota } from '../../parts/limits.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Transaction } from '../../store/store.ts';
import { type Exchange, type Plan, type Refusal, Refused, refusalReply } from '../exchange/exchange.ts';
import type { Clock } from '../http/clock.ts';
import { type AddressOf, addressBits, addressName, compileAddressOf } from './address.ts';
import { retryAfter } from './counters.ts';
import { compileDeadlines, type Within } from './deadlines.ts';
import type { RateCounters } from './rate-counters.ts';
import { type Counting, compileRates, type OperationRates, rateHeaders } from './rates.ts';

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
    first: undefined,
    second: undefined,
    headers: undefined,
    within: undefined,
    ...(rates.length > 0 && {
      first: (counting, plan, nowMs) => of(plan).first(counting, nowMs),
      second: (exchange) => of(exchange.plan).second(exchange, exchange.caller, exchange.nowMs),
      headers: ({ counted }) => counted && rateHeaders(counted),
    }),
    ...(requestMs !== undefined && { within: compileDeadlines(requestMs, clock, refusalReply, onFailure) }),
    spendOf: compileQuotas(statedValue(limits.quota) ?? [], addressOf),
  };
}

/** Uses quota for an answer of this status. @throws {Refused} `limit.quota` where one is used up. */
type Spend = (rows: Transaction, exchange: Exchange, status: number) => void;

/** Compiles the quotas of a document; an operation that none counts has nothing to spend. */
function compileQuotas(stated: readonly Quota[], addressOf: AddressOf): (operation: Operation) => Spend | undefined {
  const names = quotaNames(stated);
  const compiled = stated.map((quota, at) => ({
    quota,
    name: names[at]!,
    // `check` refuses a document with any other word.
    windowOf: compileCalendar(quota.window as CalendarWindow, quota.zone),
  }));

  return (operation) => {
    const counting = compiled.filter(({ quota: { on } }) => on === undefined || namesOperation(on, operation));
    if (counting.length === 0) return undefined;
    return (rows, exchange, status) => {
      if (status < 200 || status > 299) return;
      const { nowMs, caller } = exchange;
      let waitMs = -1;
      for (const { quota, name, windowOf } of counting) {
        const { to, limit } = quota;
        if (to !== undefined && !to.includes('anyone') && !to.includes(caller?.user ?? '')) continue;
        const { startMs, endMs } = windowOf(nowMs);
        const key = `quota\n${name}\n${startMs}\n${whoOf(quota, exchange, addressOf)}`;
        if (rows.addTo(key, 1, nowMs, endMs) > limit) waitMs = Math.max(waitMs, endMs - nowMs);
      }
      if (waitMs !== -1) throw new Refused({ when: 'limit.quota', headers: retryAfter(waitMs) });
    };
  };
}

/** What is used is kept under what a quota counts, not under how much it allows, so that a limit can be raised within its window. */
function quotaNames(stated: readonly Quota[]): string[] {
  const seen = new Map<string, number>();
  return stated.map(({ per, to, on, window, zone }) => {
    const name = JSON.stringify([per, to ?? null, on ?? null, window, zone]);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} ${count}`;
  });
}

function whoOf({ per }: Quota, { caller, call }: Exchange, addressOf: AddressOf): string {
  if (per === 'everyone') return '';
  if (per === 'user') return caller?.user ?? '';
  if (per === 'caller' && caller) return `${caller.user}\n${caller.id}`;
  return `address ${addressName(addressBits(addressOf(call)))}`;
}
