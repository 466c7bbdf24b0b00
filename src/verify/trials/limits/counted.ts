import { rateKind } from '../../../kinds/limits/all.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { isLimitFor, type LimitScope, type Quota, type Rate } from '../../../parts/limits.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { fieldCountedApart, type RowLimit } from '../../../parts/row-limits.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { Lane } from '../../exchange/lanes.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { ready } from '../../make/readied.ts';
import { type Allowed, callerContext } from '../../model/access.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';

/** An operation that a rate counts, and somebody for whom it does; nobody where no credential is looked at. */
export interface CountedOperation {
  readonly operation: Operation;
  readonly caller: TrialCaller | undefined;
}

/** What a rate counts that changes nothing and needs little; nothing where a stricter rate is always reached before it. */
export function cheapest(model: Model, rate: Rate): CountedOperation | undefined {
  const weight = ({ operation: { endpoint } }: CountedOperation): number => {
    if (!endpoint) return 9;
    const changes = endpoint.method !== 'GET';
    return (changes ? 4 : 0) + pathParameters(endpoint.path).length + (model.requestShape(endpoint).standing === 'none' ? 0 : 1);
  };
  // A rate that is stricter here would be the one that is tried.
  const counted = model.operations
    .flatMap((operation) => (operation.endpoint ? askersOf(model, operation).map((caller) => ({ operation, caller })) : []))
    .filter(
      ({ operation, caller }) =>
        applies(model, rate, operation, caller) === 'yes' && strictest(model, operation, caller) === rate,
    );
  return counted.sort((one, other) => weight(one) - weight(other))[0];
}

/** A valid request of whoever is counted; of nobody, it shows no credential. @throws {Untestable} */
export async function countedRequest(session: Session, { operation, caller }: CountedOperation): Promise<RequestPlan> {
  const { endpoint } = operation;
  session.need(endpoint !== undefined, `${operation.name} has no endpoint`);
  const { request } = await ready(session, endpoint, { caller });
  const { caller: _known, ...anonymous } = request;
  return caller ? request : anonymous;
}

/** Everybody who may ask for an operation, those first of whom it is certain. */
export function askersOf(model: Model, operation: Operation): readonly (TrialCaller | undefined)[] {
  if (model.access.isPublic(operation)) return [undefined];
  const nobody = model.access.allows(operation, undefined) === 'yes' ? [undefined] : [];
  const able = model.callers.filter((one) => one.credential && model.access.allows(operation, one) !== 'no');
  const rank = (one: TrialCaller) => (model.access.allows(operation, one) === 'yes' ? 0 : 1);
  return [...able.sort((one, other) => rank(one) - rank(other)), ...nobody];
}

/** Whether a rate counts what a caller does. */
export function applies(model: Model, rate: Rate, operation: Operation, caller: TrialCaller | undefined): Allowed {
  if (rate.on !== undefined && !namesOperation(rate.on, operation)) return 'no';
  return countsCaller(model, rate, operation, caller);
}

/** Whether a limit is for a caller, as far as its condition can be decided here. */
export function countsCaller(
  { expressions }: Model,
  limit: LimitScope,
  operation: Operation,
  caller: TrialCaller | undefined,
): Allowed {
  if (!isLimitFor(limit, caller)) return 'no';
  if (!limit.if) return 'yes';
  const evaluated = expressions.evaluate(limit.if, operation.name, { context: asking(operation, caller) });
  if (evaluated === 'unknown') return 'unknown';
  return evaluated === 'failed' || evaluated.value === true ? 'yes' : 'no';
}

/** Whether a limit counts two callers apart; nothing where that cannot be known. */
export function isApart(
  { expressions }: Model,
  { per, by }: LimitScope,
  operation: Operation,
  one: TrialCaller,
  other: TrialCaller,
): boolean | undefined {
  if (per === 'caller') return true;
  if (per !== 'value') return per === 'user' && one.user !== other.user;
  const [first, second] = [one, other].map(
    (caller) => by && expressions.evaluate(by, operation.name, { context: asking(operation, caller) }),
  );
  if (!first || !second || first === 'unknown' || second === 'unknown') return undefined;
  // Whoever has no value of its own is counted for itself.
  if (first === 'failed' || second === 'failed' || first.value === null || second.value === null) return true;
  return asText(first.value) !== asText(second.value);
}

function asking({ name }: Operation, caller: TrialCaller | undefined) {
  return { operation: name, ...(caller === undefined ? { caller: undefined } : callerContext(caller)) };
}

/** The rates that count what a caller does, or may count it. */
export function ratesFor(model: Model, operation: Operation, caller: TrialCaller | undefined): readonly Rate[] {
  return (statedValue(model.spec.limits.rate) ?? []).filter((rate) => applies(model, rate, operation, caller) !== 'no');
}

/** The rate that is reached first by one request after the other. */
function strictest(model: Model, operation: Operation, caller: TrialCaller | undefined): Rate | undefined {
  return [...ratesFor(model, operation, caller)].sort((one, other) => roomFor(one, operation) - roomFor(other, operation))[0];
}

/** How many requests a rate lets through at once. */
export function roomFor(rate: Rate, operation: Operation): number {
  return capacityOf(rate) / Math.max(1e-9, costOf(rate, operation));
}

/** What an operation counts in a rate. */
export function costOf(rate: Rate, operation: Operation): number {
  return (
    rate.cost[operation.name] ??
    entriesOf({ standing: 'stated', value: rate.cost, at: '' }).find(([name]) => namesOperation([name], operation))?.[1] ??
    1
  );
}

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

/** One request that a rate counts, or refused. Its time at the service lies between the two. */
export interface RateAttempt {
  readonly fromMs: number;
  readonly toMs: number;
  readonly cost: number;
  /** Whether the rate let it through, whatever came of it then. */
  readonly isLet: boolean;
}

/** What a rate cannot have done if it is the stated one. */
export interface RateFlaw {
  /** Which attempt shows it, by its place. */
  readonly at: number;
  readonly says: string;
}

type Stated = Pick<Rate, 'kind' | 'limit' | 'windowMs' | 'own'>;

/** Whether more was let through than the rate allows, however the times fell within their bounds. */
export function letTooMany(rate: Stated, attempts: readonly RateAttempt[]): RateFlaw | undefined {
  const kind = rateKind(rate.kind);
  const passed = attempts.map((attempt, at) => ({ ...attempt, at })).filter(({ isLet }) => isLet);
  for (let last = 0; last < passed.length; last++) {
    let sum = 0;
    for (let first = last; first >= 0; first--) {
      const spreadMs = (passed[last]?.toMs ?? 0) - (passed[first]?.fromMs ?? 0);
      const most = kind.mostWithin(rate, spreadMs);
      if (most === Number.POSITIVE_INFINITY) break;
      sum += passed[first]?.cost ?? 0;
      if (sum > most + tolerance)
        return {
          at: passed[last]?.at ?? 0,
          says: `${told(sum)} were let through within ${told(spreadMs)} ms, where ${told(most)} are allowed`,
        };
    }
  }
  return undefined;
}

/**
 * Whether something was refused that the rate allows, however the times fell. `knownSinceMs` is from when on every request that
 * it counts is among the attempts; what came before is taken to have used all of it.
 */
export function refusedTooEarly(rate: Stated, attempts: readonly RateAttempt[], knownSinceMs: number): RateFlaw | undefined {
  const memoryMs = memoryOf(rate);
  for (const [at, attempt] of attempts.entries()) {
    if (attempt.isLet || attempt.fromMs - memoryMs < knownSinceMs) continue;
    // It may have been counted up to when its answer came.
    const before = attempts.filter(
      (other, place) => place !== at && other.isLet && other.fromMs <= attempt.toMs && other.toMs > attempt.fromMs - memoryMs,
    );
    const used = before.reduce((sum, { cost }) => sum + cost, 0);
    const room = capacityOf(rate);
    if (used + attempt.cost <= room + tolerance)
      return {
        at,
        says: `a request was refused after ${told(used)} in the last ${told(memoryMs)} ms, where ${told(room)} are allowed`,
      };
  }
  return undefined;
}

/** After this long without a request, a rate has forgotten everything. */
export function memoryOf(rate: Stated): number {
  return rateKind(rate.kind).memoryMs(rate);
}

/** How much can be used at once where nothing has been used for long. */
export function capacityOf(rate: Stated): number {
  return rateKind(rate.kind).capacity(rate);
}

/** Costs may be fractions, which do not add up to the last digit. */
const tolerance = 1e-6;

function told(value: number): string {
  return asText(Math.round(value * 1000) / 1000);
}

/**
 * The limits of rows of what an operation makes, or moves into what counts, that are reached before the quota: nobody could tell which of both
 * refused. What is counted for each row that is referred to is not reached: each is made with one of its own.
 */
export function fewerRows({ spec }: Model, quota: Quota, { endpoint }: Operation): readonly RowLimit[] {
  const does = endpoint && statedValue(endpoint.does);
  const isMaking = does?.verb === 'create' || does?.verb === 'upsert';
  const of = does && (isMaking || does.verb === 'transition') ? does.resource : undefined;
  const stated = of === undefined ? undefined : entryOf(spec.resources.all, of);
  return (statedValue(spec.limits.rows) ?? []).filter((one) => {
    const apart = stated && fieldCountedApart(one, stated);
    const isForEach = apart !== undefined && entryOf(stated?.fields, apart)?.ref !== undefined;
    // A transition makes no row: it counts where rows count in some states alone.
    return one.of === of && one.limit < quota.limit && !isForEach && (isMaking || one.while !== undefined);
  });
}
