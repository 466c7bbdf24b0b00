import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import type { RateHeaders } from '../../../parts/limits.ts';
import { namesOperation } from '../../../parts/operations.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

const fact = { kind: 'rate limits', subject: 'service' } as const;

/** So many endpoints are asked: how rates are told is the same at all. */
const endpointsMost = 3;

/** Where the names are stated under which rates are told, answers that a rate for all counted tell the strictest of them so. */
export const toldRates: Trial = {
  name: 'limits/told rates',
  part: 'limits',
  about: 'Answers tell of the strictest rate under the stated names.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    const names = statedValue(model.spec.limits.headers);
    if (!names) return;
    const counted = model.endpoints.filter((endpoint) => isCounted(endpoint, model) && isStated(endpoint.does));
    for (const endpoint of counted.slice(0, endpointsMost))
      yield { name: endpoint.key, facts: [fact], run: (session) => ask(session, endpoint, names) };
  },
};

async function ask(session: Session, endpoint: Endpoint, names: RateHeaders): Promise<void> {
  const { request } = await ready(session, endpoint);
  const done = await session.send(request);
  for (const [word, name] of wordsOf(names))
    session.claim({
      fact,
      reason: `header ${name}`,
      at: session.model.spec.limits.headers.at,
      of: [done],
      judge: (exchange: TrialExchange): Judgement =>
        isDone(exchange) ? flawOf(exchange, session.model, names, word, name) : moot('it was refused'),
    });
}

type Word = 'limit' | 'remaining' | 'reset';

function wordsOf({ limit, remaining, reset }: RateHeaders): [Word, string][] {
  return [
    ...(limit === undefined ? [] : [['limit', limit] as [Word, string]]),
    ...(remaining === undefined ? [] : [['remaining', remaining] as [Word, string]]),
    ...(reset === undefined ? [] : [['reset', reset.name] as [Word, string]]),
  ];
}

/** Whether a rate that is for everybody counts the operation. */
function isCounted(endpoint: Endpoint, model: Model): boolean {
  const rates = statedValue(model.spec.limits.rate) ?? [];
  const operation = model.operationOf(endpoint);
  return rates.some(({ on, to }) => to === undefined && (on === undefined || namesOperation(on, operation)));
}

function flawOf(exchange: TrialExchange, { spec }: Model, { reset }: RateHeaders, word: Word, name: string): Judgement {
  const seen = exchange.headers[name.toLowerCase()];
  if (seen === undefined) return { promised: `a header ${name}`, seen: 'none' };
  const rates = statedValue(spec.limits.rate) ?? [];
  const most = Math.max(...rates.map(({ limit }) => limit));
  const number = Number(seen);
  if (word === 'limit')
    return rates.some(({ limit }) => limit === number) ? undefined : { promised: `${name}, one of the stated limits`, seen };
  if (word === 'remaining')
    return Number.isInteger(number) && number >= 0 && number <= capacityOf(most, rates)
      ? undefined
      : { promised: `${name}, how many are left of ${most}`, seen };
  const longestMs = Math.max(...rates.map(({ windowMs }) => windowMs));
  // The clocks of two machines may differ by minutes, and a service's own may have been moved.
  const aheadMs = reset?.as === 'http-date' ? Date.parse(seen) : reset?.as === 'unix' ? number * 1000 : undefined;
  if (aheadMs === undefined)
    return Number.isInteger(number) && number >= 0 && number * 1000 <= longestMs + 1000
      ? undefined
      : { promised: `${name}, the seconds until more are left, of a window of ${longestMs / 1000}`, seen };
  return Number.isFinite(aheadMs) && aheadMs > 946_684_800_000 && aheadMs < 4_102_444_800_000
    ? undefined
    : { promised: `${name}, when more are left, as ${reset?.as}`, seen };
}

/** A bucket may hold more than its limit. */
function capacityOf(most: number, rates: readonly { readonly own: Readonly<Record<string, unknown>> }[]): number {
  return Math.max(
    most,
    ...rates.map(({ own }) => Math.max(0, ...Object.values(own).filter((value) => typeof value === 'number'))),
  );
}
