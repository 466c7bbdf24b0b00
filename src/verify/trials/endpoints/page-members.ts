import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { Model } from '../../model/model.ts';
import type { Observed } from '../../session/observer.ts';
import { oneLine } from '../../values/difference.ts';

/** What stands beside the rows of a page on every one: whether there are more, how many there are in all, and constants. */
export function* observeEnvelope(
  { body = null }: TrialExchange,
  { key, pagination }: Endpoint,
  { spec }: Model,
): Iterable<Observed> {
  const { items, next, hasMore, total, data = {} } = statedValue(pagination ?? spec.limits.pagination) ?? {};
  if (items === undefined || !isMap(body)) return;
  const members: readonly (readonly [name: string | undefined, promised: string, isSo: (value: Json) => boolean])[] = [
    [hasMore, 'true or false', (value) => typeof value === 'boolean'],
    [total, 'a number of rows', (value) => Number.isInteger(value)],
    ...Object.entries(data).map(
      ([name, constant]) => [name, JSON.stringify(constant), (value: Json) => isSame(value, constant)] as const,
    ),
  ];
  const fact = { kind: 'response payload shapes', subject: key };
  for (const [name, promised, isSo] of members) {
    if (name === undefined) continue;
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    const seen = value === undefined ? 'it is not there' : oneLine(JSON.stringify(value));
    const isGood = value !== undefined && isSo(value);
    yield { fact, reason: `envelope, ${name}`, judgement: isGood ? undefined : { promised: `${name}: ${promised}`, seen } };
  }
  if (next === undefined || hasMore === undefined || body[hasMore] !== false) return;
  const isNone = (body[next] ?? null) === null;
  yield {
    fact,
    reason: whatIsNext,
    judgement: isNone ? undefined : { promised: `no ${next} on the last page`, seen: oneLine(JSON.stringify(body[next])) },
  };
}

/** The reason of a claim that the last page says nothing of a next one. */
export const whatIsNext = 'envelope, what comes next';
