import { type CalendarWindow, compileCalendar } from '../../kinds/limits/calendar.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import type { Limits, Quota } from '../../parts/limits.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Transaction } from '../../store/store.ts';
import type { PromiseOrValue } from '../exchange/after.ts';
import {
  type Deadline,
  type Exchange,
  type OperationRun,
  type Plan,
  type Refusal,
  Refused,
  refusalReply,
} from '../exchange/exchange.ts';
import type { Reply } from '../http/call.ts';
import type { Clock } from '../http/clock.ts';
import { ClientGone } from '../http/disconnect.ts';
import { type AddressOf, addressBits, addressName, compileAddressOf } from './address.ts';
import { retryAfter } from './counters.ts';
import type { RateCounters } from './rate-counters.ts';
import { type Counting, compileRates, type OperationRates, ownRateHeaders, rateHeaders } from './rates.ts';

/** What limits need of the service that they are part of. */
export interface LimitsSetting {
  readonly clock: Clock;
  readonly counters: RateCounters;
  readonly onFailure: (failure: unknown, requestId: string) => void;
}

/** What the limits part does on a request's road; what is not there costs nothing. */
export interface CompiledLimits {
  /** Step 3: rates that count failed logins too: per address, and for everyone where it is stated so. */
  readonly first:
    | ((counting: Counting & Pick<Exchange, 'nowMs'> & { readonly plan: Pick<Plan, 'operation'> }) => Refusal | undefined)
    | undefined;
  /** Step 5: rates per caller and user. */
  readonly second: ((exchange: Exchange) => Refusal | undefined) | undefined;
  /** Whom a call comes from: an address, or a network of IPv6. */
  readonly addressOf: AddressOf;
  /** Header fields that tell of the rates that counted this request. */
  readonly headers: ((exchange: Exchange) => Readonly<Record<string, string>> | undefined) | undefined;
  /** Steps 8 to 15: carries out a request, and refuses it with `limit.time` where that takes too long. */
  readonly within: Within | undefined;
  /** How long after it came a request is over; nothing where no time is stated. */
  readonly requestMs: number | undefined;
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
    requestMs,
    addressOf: (call) => addressName(addressBits(addressOf(call))),
    ...(rates.length > 0 && {
      first: (counting) => of(counting.plan).first(counting, counting.nowMs),
      second: (exchange) => of(exchange.plan).second(exchange, exchange.caller, exchange.nowMs),
      headers: compileRateHeaders(limits.headers),
    }),
    ...(requestMs !== undefined && { within: compileDeadlines(requestMs, clock, refusalReply, onFailure) }),
    spendOf: compileQuotas(statedValue(limits.quota) ?? [], addressOf),
  };
}

/** The header fields of the rates: those of the draft standard, unless others are stated, or none. */
function compileRateHeaders(stated: Limits['headers']): CompiledLimits['headers'] {
  if (stated.standing === 'none') return undefined;
  if (!isStated(stated)) return ({ counted }) => counted && rateHeaders(counted);
  const { value } = stated;
  return ({ counted, nowMs }) => counted && ownRateHeaders(value, counted, nowMs);
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

/** Carries out a request in the time that it has; an answer that is there at once is never late. */
type Within = (exchange: Exchange, carryOut: OperationRun, readsBody: boolean) => PromiseOrValue<Reply>;

interface Waiting {
  readonly atMs: number;
  readonly deadline: RunningDeadline;
}

/**
 * Compiles `timeout.request`. All requests have the same time, so they fall due in the order in which they came, and one
 * timer is enough for all of them.
 */
function compileDeadlines(
  requestMs: number,
  clock: Clock,
  refuse: (exchange: Exchange, refusal: Refusal) => Reply,
  onFailure: (failure: unknown, requestId: string) => void,
): Within {
  let waiting: Waiting[] = [];
  let first = 0;
  let isSet = false;

  function wait(entry: Waiting): void {
    waiting.push(entry);
    if (!isSet) set(entry.atMs);
  }

  function set(atMs: number): void {
    isSet = true;
    clock.at(atMs, wake);
  }

  function wake(): void {
    isSet = false;
    const nowMs = clock.now();
    for (; first < waiting.length; first++) {
      const { atMs, deadline } = waiting[first]!;
      if (deadline.isDone) continue;
      if (atMs > nowMs) break;
      deadline.expire();
    }
    waiting = waiting.slice(first);
    first = 0;
    if (waiting[0]) set(waiting[0].atMs);
  }

  return (exchange, carryOut, readsBody) => {
    let answerLate: (reply: Reply) => void = () => {};
    const deadline = new RunningDeadline(() => answerLate(refuse(exchange, lateness(exchange, readsBody))));
    exchange.deadline = deadline;
    const reply = carryOut(exchange);
    if (!(reply instanceof Promise)) return reply;
    return new Promise((resolve, reject) => {
      answerLate = resolve;
      wait({ atMs: exchange.nowMs + requestMs, deadline });
      reply.then(
        (made) => {
          deadline.done();
          resolve(made);
        },
        (failure: unknown) => {
          if (!deadline.isOver) reject(failure);
          else if (!(failure instanceof TimedOut || failure instanceof ClientGone)) onFailure(failure, exchange.requestId());
          deadline.done();
        },
      );
    });
  };
}

/** A body that does not arrive is the client's own slowness (RFC 9110 section 15.5.9). */
function lateness({ bytes }: Exchange, readsBody: boolean): Refusal {
  return readsBody && bytes === undefined ? { when: 'limit.time', status: 408 } : { when: 'limit.time' };
}

/** Thrown where something would be stored for a request that was answered with `limit.time` already. */
export class TimedOut {}

/**
 * How long one request has. Once it is over the request is answered, and nothing that it still does is stored; a change that is
 * being stored when the time comes is let through, and answered as usual.
 */
export class RunningDeadline implements Deadline {
  #state: 'open' | 'applying' | 'over' | 'done' = 'open';
  #isDue = false;
  readonly #answer: () => void;
  readonly #freed: (() => void)[] = [];

  constructor(answer: () => void) {
    this.#answer = answer;
  }

  get isOver(): boolean {
    return this.#state === 'over';
  }

  get isDone(): boolean {
    return this.#state === 'done' || this.#state === 'over';
  }

  goOn(): void {
    if (this.#state === 'over') throw new TimedOut();
  }

  apply(): void {
    this.goOn();
    if (this.#state === 'open') this.#state = 'applying';
  }

  release(): void {
    if (this.#state !== 'applying') return;
    this.#state = 'open';
    if (this.#isDue) this.expire();
  }

  /** The request is answered. */
  done(): void {
    if (this.#state !== 'over') this.#state = 'done';
  }

  whenOver(free: () => void): void {
    this.#freed.push(free);
  }

  /** The time has come. */
  expire(): void {
    this.#isDue = true;
    if (this.#state !== 'open') return;
    this.#state = 'over';
    for (const free of this.#freed) free();
    this.#answer();
  }
}
