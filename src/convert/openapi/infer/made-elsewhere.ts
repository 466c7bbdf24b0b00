import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import type { Collection, InferenceContext } from './context.ts';

/** Whether another operation makes the things of a collection; where none does, PUT does under the name that it is sent to. */
export function isMadeElsewhere({ byPath, endpoints }: InferenceContext, collection: Collection): boolean {
  const above = byPath.get(collection.path) ?? [];
  const isMade = Object.values(endpoints).some((other) => isMap(other) && other.does === `create ${collection.resource}`);
  return isMade || above.some(({ method }) => method === 'POST');
}

/** `Create or replace a registration`, `Device registrations can be upserted`. */
export function isCalledUpsert({ map, id }: SourceOperation): boolean {
  const { summary, description } = map.value;
  const words = [summary, description, id].filter((one) => typeof one === 'string').join('\n');
  return upserting.test(words);
}

const upserting = /\bupsert|\b(?:creates?|adds?) or (?:updates?|replaces?|overwrites?)\b|(?:create|add)Or(?:Update|Replace)/i;
