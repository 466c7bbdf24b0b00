import type { Decision, RateFacts, RateKind, Use } from '../../kinds/limits/kind.ts';
import { isLimitFor, isUncounted, type Rate } from '../../parts/limits.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { PromiseOrValue } from '../exchange/after.ts';
import type { CompileExpression } from '../exchange/compilation.ts';
import type { Counted, RateUse } from '../exchange/counted.ts';
import type { Exchange, Refusal } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';
import type { RateCounters, RateTables } from './rate-counters.ts';
import { policyNames, policyOf, retryAfter } from './rate-headers.ts';
import type { RateCounter } from './usage.ts';
import { type AddressBits, type AddressOf, addressBits, compileWhom, type WhoAsks, type Whom } from './whom.ts';

/** A call, and what the rates have made of it so far. */
export type Counting = Pick<Exchange, 'call' | 'counted'>;

/** The rates that count one operation's calls, in the two steps of the order of refusals. */
export interface OperationRates {
  /** Step 3: per address, and for everyone where it is stated so, whoever calls. */
  first(counting: Counting, nowMs: number): PromiseOrValue<Refusal | undefined>;
  /** Step 5: per caller and user, for everyone, and those for some users alone. A refusal takes back what step 3 counted. */
  second(counting: Counting & Pick<Exchange, 'caller'>, nowMs: number): PromiseOrValue<Refusal | undefined>;
}

/** A rate as it is stated, with its counters and its words in the header fields. */
export interface CompiledRate extends CountingRate {
  readonly rate: Rate;
  readonly tables: RateTables;
  readonly policy: string;
  readonly whom: Whom;
}

/** A call that is counted. */
export interface CountedCall {
  readonly call: Call;
  readonly asked: WhoAsks;
  /** What was counted of it before. */
  readonly before: Counted['rates'] | undefined;
}

/** What came of counting a call. */
export interface SettledRates {
  readonly rates: RateUse[];
  readonly refusal: Refusal | undefined;
}

/** Counts a call in all of some rates or, where one refuses it, in none, nor in those before; and goes on with what came of it. */
export type CountRates = <Context>(
  rates: readonly OperationRate[],
  counted: CountedCall,
  next: (settled: SettledRates, context: Context) => Refusal | undefined,
  context: Context,
) => PromiseOrValue<Refusal | undefined>;

/** A rate beside what it costs here. */
export interface OperationRate {
  readonly one: CompiledRate;
  readonly cost: number;
}

/** Compiles the rates of a document; each operation gets those that count it. */
export function compileRates(
  stated: readonly Rate[],
  counters: RateCounters,
  count: CountRates,
  compile: CompileExpression,
): (operation: Operation) => OperationRates {
  const tables = counters.tablesOf(stated);
  const names = policyNames(stated);
  const compiled = stated.map((rate, at) => compileRate(rate, tables[at]!, names[at]!, compileWhom(rate, compile)));
  return (operation) => {
    const counting = compiled
      .filter(({ rate }) => rate.on === undefined || namesOperation(rate.on, operation))
      .map((one): OperationRate => ({ one, cost: Math.round(costOf(one.rate, operation) * one.unit) }));
    return ratesOfOperation(counting, count, operation.name);
  };
}

function compileRate(rate: Rate, tables: RateTables, name: string, whom: Whom): CompiledRate {
  const { kind, facts, unit } = tables;
  return {
    rate,
    tables,
    kind,
    facts,
    unit,
    policy: policyOf(name, rate, kind),
    whom,
    ...(rate.uncounted && { isUncounted: (status: number) => isUncounted(rate, status) }),
    label: `"${name}";r=`,
    use: { numbers: new Float64Array(kind.numbersMax), length: 0 },
  };
}

/** Counts in the memory of this process. */
export function compileOwnCount(addressOf: AddressOf): CountRates {
  const bitsOf = rememberLast(addressBits);
  return (rates, { call, asked, before }, next, context) => {
    const { nowMs } = asked;
    const decided: CountedRate[] = [];
    for (const { one, cost } of rates) {
      const name = one.whom.nameOf(asked);
      decided.push(
        name === undefined
          ? new CountedRate(one, one.tables.addresses, bitsOf(addressOf(call)), nowMs, cost)
          : new CountedRate(one, one.tables.names, name, nowMs, cost),
      );
    }
    return next({ rates: decided, refusal: settle(decided, before, nowMs) }, context);
  };
}

/** Puts the rates of one operation in the two steps; those for a user are told apart when it first calls. */
function ratesOfOperation(counting: readonly OperationRate[], count: CountRates, operation: string): OperationRates {
  const early = counting.filter(isEarly);
  const late = counting.filter((rate) => !isEarly(rate));
  const earlyPolicy = policyList(early);
  const byUser = new Map<string | undefined, LateRates>();

  function ratesOf(asked: WhoAsks): LateRates {
    const { caller } = asked;
    let known = byUser.get(caller?.user);
    if (!known) {
      known = lateRates(
        late.filter(({ one }) => isLimitFor(one.rate, caller)),
        early,
      );
      byUser.set(caller?.user, known);
    }
    return known.among ? known.among(asked) : known;
  }

  function countedFirst({ rates, refusal }: SettledRates, counting: Counting): Refusal | undefined {
    if (rates.length > 0) counting.counted = { rates, policy: earlyPolicy, isRefused: refusal !== undefined };
    return refusal;
  }

  function countedSecond({ rates, refusal }: SettledRates, { counting, late }: SecondStep): Refusal | undefined {
    if (rates.length === 0) return refusal;
    const { counted } = counting;
    // What step 3 said no longer holds once it was taken back.
    if (refusal || !counted) {
      const policy = refusal ? policyList(late.rates) : late.policy;
      counting.counted = { rates, policy, isRefused: refusal !== undefined };
    } else {
      for (const one of rates) counted.rates.push(one);
      counted.policy = late.policy;
    }
    return refusal;
  }

  return {
    first(counting, nowMs) {
      if (early.length === 0) return undefined;
      const asked = { caller: undefined, operation, nowMs };
      return count(early, { call: counting.call, asked, before: undefined }, countedFirst, counting);
    },
    second(counting, nowMs) {
      const { call, caller, counted } = counting;
      const asked = { caller, operation, nowMs };
      const late = ratesOf(asked);
      if (late.rates.length === 0) return undefined;
      return count(late.rates, { call, asked, before: counted?.rates }, countedSecond, { counting, late });
    },
  };
}

/** Those that count once it is known who calls, behind others that have counted before. */
function lateRates(rates: readonly OperationRate[], early: readonly OperationRate[]): LateRates {
  const made = { rates, policy: policyList([...early, ...rates]) };
  if (rates.every(({ one }) => one.whom.counts === undefined)) return made;
  // Each choice among them is made once.
  const choices = new Map<string, LateRates>();
  const among = (asked: WhoAsks): LateRates => {
    const counting = rates.filter(({ one }) => one.whom.counts?.(asked) ?? true);
    const key = counting.map(({ one }) => one.label).join();
    const known = choices.get(key) ?? { rates: counting, policy: policyList([...early, ...counting]) };
    choices.set(key, known);
    return known;
  };
  return { ...made, among };
}

/** A call in step 5, and what counts it there. */
interface SecondStep {
  readonly counting: Counting;
  readonly late: LateRates;
}

/** Those that count a user's calls once it is known who calls. */
interface LateRates {
  readonly rates: readonly OperationRate[];
  readonly policy: string;
  /** Those of them that count somebody, where some count some callers alone. */
  readonly among?: (asked: WhoAsks) => LateRates;
}

/** Whether it is decided before the caller is known. What counts everybody is not, unless it says so: strangers would use it up. */
function isEarly({ one: { rate } }: OperationRate): boolean {
  if (rate.to !== undefined || rate.if) return false;
  return rate.per === 'address' || (rate.per === 'everyone' && rate.isBeforeCredentials === true);
}

/** Counts a call in all of the rates or, where one refuses it, in none, nor in those before. */
function settle(decided: readonly CountedRate[], before: Counted['rates'] | undefined, nowMs: number): Refusal | undefined {
  let waitMs = -1;
  for (const { decision } of decided) if (!decision.isAllowed && decision.waitMs > waitMs) waitMs = decision.waitMs;
  if (waitMs === -1) {
    for (const one of decided) one.keep();
    return undefined;
  }
  for (const one of before ?? []) one.giveBack(nowMs);
  return { when: 'limit.rate', headers: retryAfter(waitMs) };
}

function costOf({ cost }: Rate, operation: Operation): number {
  const own = cost[operation.name];
  if (own !== undefined) return own;
  return Object.entries(cost).find(([name]) => namesOperation([name], operation))?.[1] ?? 1;
}

function policyList(rates: readonly OperationRate[]): string {
  return rates.map(({ one }) => one.policy).join(', ');
}

/** Several rates ask for the same address, and so do calls one after the other. */
function rememberLast(read: (text: string) => AddressBits): (text: string) => AddressBits {
  let last = '';
  let bits = read('');
  return (text) => {
    if (text === last) return bits;
    bits = read(text);
    last = text;
    return bits;
  };
}

/** What is needed of a rate to count by it. */
interface CountingRate {
  /** How it begins in the `RateLimit` field. */
  readonly label: string;
  readonly kind: RateKind;
  readonly facts: RateFacts;
  /** How many units one request is. */
  readonly unit: number;
  /** Whether an answer of a status counts nothing in the end; absent where each counts. */
  readonly isUncounted?: (status: number) => boolean;
  /** What the key that was looked at last has used. */
  readonly use: Use;
}

/** One rate's decision about one call. */
class CountedRate<Key = unknown> implements RateUse {
  readonly rate: CountingRate;
  decision: Decision;
  readonly #counters: RateCounter<Key>;
  readonly #key: Key;
  readonly #own: number;
  readonly #atMs: number;
  readonly #cost: number;

  constructor(rate: CountingRate, counters: RateCounter<Key>, key: Key, nowMs: number, cost: number) {
    this.rate = rate;
    this.#counters = counters;
    this.#key = key;
    this.#atMs = nowMs;
    this.#cost = cost;
    this.#own = counters.look(key, rate.use);
    this.decision = rate.kind.decide(rate.facts, rate.use, nowMs, cost);
  }

  /** Counts it, before the rate looks at anything else. */
  keep(): void {
    this.#counters.keep(this.#key, this.#own, this.rate.use, this.#atMs);
  }

  /** Takes it out again. */
  giveBack(nowMs: number): void {
    const { kind, facts, use } = this.rate;
    const own = this.#counters.look(this.#key, use);
    kind.giveBack(facts, use, nowMs, { atMs: this.#atMs, cost: this.#cost, before: this.decision.before });
    this.#counters.keep(this.#key, own, use, nowMs);
  }

  answered(status: number, nowMs: number): void {
    if (this.#cost === 0 || this.rate.isUncounted?.(status) !== true) return;
    this.giveBack(nowMs);
    const { kind, facts, use } = this.rate;
    this.#counters.look(this.#key, use);
    // What is left is told as it is now; nothing is kept of that.
    this.decision = kind.decide(facts, use, nowMs, 0);
  }
}
