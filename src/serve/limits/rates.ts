import type { RateKind } from '../../kinds/limits/kind.ts';
import { isLimitFor, isUncounted, type Rate, type RateHeaders, type ResetForm } from '../../parts/limits.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { afterFor, type PromiseOrValue } from '../exchange/after.ts';
import type { CompileExpression } from '../exchange/compilation.ts';
import { type Counted, type RateUse, strictestOf } from '../exchange/counted.ts';
import type { Exchange, Refusal } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';
import { CountedRate, type CountingRate, rateLimitField, retryAfter } from './counters.ts';
import type { RateCounters, RateTables } from './rate-counters.ts';
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

/** Counts a call in all of some rates or, where one refuses it, in none, nor in those before. */
export type CountRates = (rates: readonly OperationRate[], counted: CountedCall) => PromiseOrValue<SettledRates>;

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
  return (rates, { call, asked, before }) => {
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
    return { rates: decided, refusal: settle(decided, before, nowMs) };
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
      return afterFor(counting, count(early, { call: counting.call, asked, before: undefined }), countedFirst);
    },
    second(counting, nowMs) {
      const { call, caller, counted } = counting;
      const asked = { caller, operation, nowMs };
      const late = ratesOf(asked);
      if (late.rates.length === 0) return undefined;
      const settled = count(late.rates, { call, asked, before: counted?.rates });
      return afterFor({ counting, late }, settled, countedSecond);
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

/** The header fields of an answer to a call that rates have counted or refused. */
export function rateHeaders(counted: Counted): Record<string, string> {
  return { ratelimit: rateLimitField(counted.rates), 'ratelimit-policy': counted.policy };
}

/** The strictest rate under the names that a document states. */
export function ownRateHeaders(names: RateHeaders, counted: Counted, nowMs: number): Record<string, string> {
  const told = strictestOf(counted, nowMs);
  const headers: Record<string, string> = {};
  if (!told) return headers;
  if (names.limit !== undefined) headers[names.limit.toLowerCase()] = String(told.limit);
  if (names.remaining !== undefined) headers[names.remaining.toLowerCase()] = String(told.remaining);
  if (names.reset) headers[names.reset.name.toLowerCase()] = resetText[names.reset.as](told.reset, nowMs);
  return headers;
}

const resetText: Readonly<Record<ResetForm, (at: number, nowMs: number) => string>> = {
  seconds: (at, nowMs) => String(Math.ceil(at - nowMs / 1000)),
  unix: String,
  'http-date': (at) => new Date(at * 1000).toUTCString(),
};

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

/** One item of `RateLimit-Policy`; a window that is no whole number of seconds cannot be told. */
function policyOf(name: string, rate: Rate, kind: RateKind): string {
  const { limit, windowMs } = rate;
  const seconds = Number.isInteger(windowMs / 1000) && windowMs > 0 ? `;w=${windowMs / 1000}` : '';
  const own = Object.entries(kind.told(rate)).map(([word, value]) => `;ninefold-${word}=${value}`);
  return `"${name}";q=${Math.floor(limit)}${seconds}${own.join('')}`;
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

const units: readonly (readonly [string, number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/**
 * What rates are called in the header fields: whom they count, for whom, of what, and over which time: `caller-1m`,
 * `address-1s-create-parcel`. How much is allowed is not in the name, so that it can change. Two of one name are numbered.
 */
function policyNames(rates: readonly Rate[]): string[] {
  const seen = new Map<string, number>();
  return rates.map(({ per, by, to = [], on = [], windowMs }) => {
    const name = [by?.source.slice(0, 40) ?? per, durationText(windowMs), ...several(to), ...several(on)]
      .join('-')
      .replaceAll(/[^\w.+-]+/g, '-');
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}-${count}`;
  });
}

function durationText(ms: number): string {
  const [unit, unitMs] = units.find(([, of]) => ms > 0 && ms % of === 0) ?? ['ms', 1];
  return `${ms / unitMs}${unit}`;
}

/** The first, and how many more. */
function several(words: readonly string[]): string[] {
  const [first, ...more] = words;
  if (first === undefined) return [];
  return [more.length === 0 ? first : `${first}+${more.length}`];
}
