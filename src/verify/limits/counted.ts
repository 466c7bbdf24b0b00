import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Rate } from '../../parts/limits.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { TrialCaller } from '../model/callers.ts';
import type { Model } from '../model/model.ts';
import { capacityOf } from './rate-model.ts';

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
    .filter(({ operation, caller }) => applies(rate, operation, caller) && strictest(model, operation, caller) === rate);
  return counted.sort((one, other) => weight(one) - weight(other))[0];
}

/** Everybody who may ask for an operation, those first of whom it is certain. */
export function askersOf(model: Model, operation: Operation): readonly (TrialCaller | undefined)[] {
  if (model.access.isPublic(operation)) return [undefined];
  const able = model.callers.filter((one) => one.credential && model.access.allows(operation, one) !== 'no');
  const rank = (one: TrialCaller) => (model.access.allows(operation, one) === 'yes' ? 0 : 1);
  return able.sort((one, other) => rank(one) - rank(other));
}

/** Whether a rate counts what a caller does. */
export function applies(rate: Rate, operation: Operation, caller: TrialCaller | undefined): boolean {
  const isFor = rate.to === undefined || (caller !== undefined && rate.to.includes(caller.user));
  return isFor && (rate.on === undefined || namesOperation(rate.on, operation));
}

/** The rates that count what a caller does. */
export function ratesFor(model: Model, operation: Operation, caller: TrialCaller | undefined): readonly Rate[] {
  return (statedValue(model.spec.limits.rate) ?? []).filter((rate) => applies(rate, operation, caller));
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
