import { isStated, statedValue } from '../../parts/fact.ts';
import type { Limits } from '../../parts/limits.ts';
import type { Operation } from '../../parts/operations.ts';
import type { PromiseOrValue } from '../exchange/after.ts';
import type { CompileExpression } from '../exchange/compilation.ts';
import type { Counted } from '../exchange/counted.ts';
import { type Deadline, type Exchange, type OperationRun, type Plan, type Refusal, refusalReply } from '../exchange/exchange.ts';
import { ClientGone } from '../http/bounds.ts';
import type { Call, Reply } from '../http/call.ts';
import type { Clock } from '../http/clock.ts';
import { compileQuotas, compileUnderWay, type Spend } from './quotas.ts';
import type { RateCounters } from './rate-counters.ts';
import { longestMs, ownRateHeaders } from './rate-headers.ts';
import { type Counting, compileOwnCount, compileRates, type OperationRates } from './rates.ts';
import { type CountingTogether, compileSharedCount } from './shared-count.ts';
import { bodyBytesMaxOf } from './stated-bounds.ts';
import { type AddressOf, addressBits, addressName, compileAddressOf, compileIsFromProxy } from './whom.ts';

/** What limits need of the service that they are part of. */
export interface LimitsSetting {
  readonly clock: Clock;
  readonly counters: RateCounters;
  /** Where rates are counted that hold over several processes; nothing where this process counts them. */
  readonly shared: CountingTogether | undefined;
  readonly compile: CompileExpression;
  readonly onFailure: (failure: unknown, requestId: string) => void;
}

/** What the limits part does on a request's road; what is not there costs nothing. */
export interface CompiledLimits {
  /** Step 3: rates that count failed logins too: per address, and for everyone where it is stated so. */
  readonly first:
    | ((
        counting: Counting & Pick<Exchange, 'nowMs'> & { readonly plan: Pick<Plan, 'operation'> },
      ) => PromiseOrValue<Refusal | undefined>)
    | undefined;
  /** Step 5: rates per caller and user. */
  readonly second: ((exchange: Exchange) => PromiseOrValue<Refusal | undefined>) | undefined;
  /** Whom a call comes from: an address, or a network of IPv6. */
  readonly addressOf: AddressOf;
  /** Whether a request comes from a proxy that is trusted. */
  readonly isFromProxy: (call: Call) => boolean;
  /** How many bytes of a body are read. */
  readonly bodyBytesMax: number;
  /** What an answer does to the rates that counted its request; nothing where each answer counts. */
  readonly answered: ((exchange: Exchange, status: number) => void) | undefined;
  /** Its request is answered, or nobody waits for it; nothing where any number may be under way. */
  readonly leave: ((exchange: Exchange) => void) | undefined;
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
export function compileLimits(limits: Limits, { clock, counters, shared, compile, onFailure }: LimitsSetting): CompiledLimits {
  const addressOf = compileAddressOf(statedValue(limits.trustProxies) ?? []);
  const rates = statedValue(limits.rate) ?? [];
  const count = shared ? compileSharedCount(shared, addressOf, onFailure) : compileOwnCount(addressOf);
  const ratesOf = compileRates(rates, counters, count, compile);
  const byPlan = new Map<Pick<Plan, 'operation'>, OperationRates>();
  const of = (plan: Pick<Plan, 'operation'>): OperationRates => {
    let found = byPlan.get(plan);
    if (!found) {
      found = ratesOf(plan.operation);
      byPlan.set(plan, found);
    }
    return found;
  };
  const underWay = compileUnderWay(statedValue(limits.atOnce) ?? [], addressOf, compile);
  const { requestMs } = statedValue(limits.timeout) ?? {};
  return {
    first: undefined,
    second: underWay?.enter,
    answered: undefined,
    leave: underWay?.leave,
    headers: undefined,
    within: undefined,
    requestMs,
    addressOf: (call) => addressName(addressBits(addressOf(call))),
    isFromProxy: compileIsFromProxy(statedValue(limits.trustProxies) ?? []),
    bodyBytesMax: bodyBytesMaxOf(limits),
    ...(rates.length > 0 && {
      first: (counting) => of(counting.plan).first(counting, counting.nowMs),
      second(exchange) {
        const { counted, nowMs } = exchange;
        const refusal = underWay?.enter(exchange);
        if (!refusal) return of(exchange.plan).second(exchange, nowMs);
        if (counted && !counted.isRefused) for (const one of counted.rates) one.giveBack(nowMs);
        exchange.counted = undefined;
        return refusal;
      },
      headers: compileRateHeaders(limits.headers),
    }),
    ...(rates.some(({ uncounted }) => uncounted !== undefined) && {
      answered({ counted }, status) {
        if (!counted || counted.isRefused) return;
        for (const one of counted.rates) one.answered(status, clock.now());
      },
    }),
    ...(requestMs !== undefined && { within: compileDeadlines(requestMs, clock, refusalReply, onFailure) }),
    spendOf: compileQuotas(statedValue(limits.quota) ?? [], addressOf, compile),
  };
}

/** The header fields of the rates: those of the draft standard, unless others are stated, or none. */
function compileRateHeaders(stated: Limits['headers']): CompiledLimits['headers'] {
  if (stated.standing === 'none') return undefined;
  if (!isStated(stated)) return ({ counted }) => counted && rateHeaders(counted);
  const { value } = stated;
  return ({ counted, nowMs }) => counted && ownRateHeaders(value, counted, nowMs);
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

/** The `RateLimit` field of what was decided (draft-ietf-httpapi-ratelimit-headers-11, section 4). */
function rateLimitField(rates: Counted['rates']): string {
  let field = '';
  for (const { rate, decision } of rates) {
    const { remaining, moreMs } = decision;
    const left = rate.unit === 1 ? remaining : Math.floor(remaining / rate.unit);
    const time = moreMs < longestMs ? `;t=${Math.ceil(moreMs / 1000)}` : '';
    field = field === '' ? rate.label + left + time : `${field}, ${rate.label}${left}${time}`;
  }
  return field;
}

/** The header fields of an answer to a call that rates have counted or refused. */
export function rateHeaders(counted: Counted): Record<string, string> {
  return { ratelimit: rateLimitField(counted.rates), 'ratelimit-policy': counted.policy };
}
