import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Rate } from '../../parts/limits.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { Model } from '../model/model.ts';
import { capacityOf } from './rate-model.ts';

/** An operation that the rate counts, that changes nothing and needs little. */
export function cheapest(model: Model, rate: Rate): Operation | undefined {
  const counted = model.operations.filter(
    (operation) => operation.endpoint && (rate.on === undefined || namesOperation(rate.on, operation)),
  );
  const weight = (operation: Operation): number => {
    const { endpoint } = operation;
    if (!endpoint) return 9;
    const changes = endpoint.method !== 'GET';
    return (changes ? 4 : 0) + pathParameters(endpoint.path).length + (model.requestShape(endpoint).standing === 'none' ? 0 : 1);
  };
  // A rate that is stricter here would be the one that is tried.
  const alone = counted.filter((operation) => strictest(model, operation) === rate);
  return alone.sort((one, other) => weight(one) - weight(other))[0];
}

/** The rate that is reached first by one request after the other. */
function strictest(model: Model, operation: Operation): Rate | undefined {
  const own = (statedValue(model.spec.limits.rate) ?? []).filter(
    (rate) => rate.on === undefined || namesOperation(rate.on, operation),
  );
  return own.sort((one, other) => roomFor(one, operation) - roomFor(other, operation))[0];
}

function roomFor(rate: Rate, operation: Operation): number {
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
