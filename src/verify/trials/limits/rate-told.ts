import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { isUncounted, type Rate, type RateHeaders } from '../../../parts/limits.ts';
import { namesOperation } from '../../../parts/operations.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { retryAfterMs } from '../../exchange/lanes.ts';
import type { Outgoing, RequestPlan } from '../../exchange/plan.ts';
import { curlOf } from '../../exchange/shell.ts';
import type { Done, Step } from '../../exchange/step.ts';
import { capturesIn } from '../../exchange/symbol.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import { concrete } from '../../session/request.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { type CountedOperation, memoryOf, type RateAttempt } from './counted.ts';

/** A refusal says how long to wait; to wait so long is enough, and it is no longer than the rate can ask for. */
export async function claimWait(session: Session, reached: ReachedRate, plan: RequestPlan, waitMsMost: number): Promise<void> {
  const { rate, shots, status } = reached;
  const last = shots.value.at(-1);
  if (last?.status !== status) return;
  const longestMs = memoryOf(rate) + 2_000;
  const judgeLength = (all: readonly Shot[]): Judgement => {
    const end = all.at(-1);
    if (end?.status !== status) return moot('it was not reached');
    const told = retryAfterMs(end);
    const promised = `a wait of ${rate.windowMs / 1000} s at the most, told in Retry-After`;
    if (told === undefined)
      return { promised, seen: `${status} with a Retry-After of ${end.headers['retry-after'] ?? 'nothing'}` };
    return told <= longestMs ? undefined : { promised, seen: `Retry-After of ${told / 1000} s` };
  };
  const isSound = session.claim({ fact: ratesFact, reason: 'Retry-After', at: rate.at, of: [shots], judge: judgeLength });
  const waitMs = retryAfterMs(last);
  if (!isSound || waitMs === undefined || (session.run.clock.advance === undefined && waitMs > waitMsMost)) return;
  const waited = await session.do(waitingAsTold(shots, status));
  const again = await session.do(burst(plan, 1, status, [shots, waited]));
  session.claim({
    fact: ratesFact,
    reason: 'waited',
    at: rate.at,
    of: [shots, again],
    judge: (all: readonly Shot[], [one]: readonly Shot[]): Judgement => {
      const told = all.at(-1)?.headers['retry-after'];
      if (told === undefined || !one || one.status === 0) return moot('it says no time');
      return one.status === status
        ? { promised: `to wait for ${told} s, as Retry-After says, is enough`, seen: `it was answered ${one.status} again` }
        : undefined;
    },
  });
}

/** The step that waits as long as the last answer of a burst says. */
function waitingAsTold(shots: Done<readonly Shot[]>, status: number) {
  return {
    says: 'wait as long as Retry-After says',
    takes: [],
    needs: [shots.step],
    async act(run: Session['run']) {
      // The cast holds: the step of that number is a burst.
      const last = (run.results[shots.step] as readonly Shot[] | undefined)?.at(-1);
      const ms = last?.status === status ? (retryAfterMs(last) ?? 0) : 0;
      await run.clock.wait(ms + 20);
      return ms;
    },
    tell: (ms: number) => `${ms / 1000} s`,
    shell: () => [`sleep ${Math.ceil((retryAfterMs(shots.value.at(-1) ?? { headers: {}, toMs: 0 }) ?? 0) / 1000)}`],
  };
}

/**
 * What is told to be left is really left: of all rates that count an answer where `RateLimit` speaks of them (draft-ietf-httpapi-ratelimit-headers), of the
 * strictest where a header of the document's own does. With enough left, the next request is not refused.
 */
export function claimRemaining(session: Session, { rate, shots, status, cost }: ReachedRate, count: number): void {
  const own = statedValue(session.model.spec.limits.headers)?.remaining?.toLowerCase();
  const name = own ?? 'ratelimit';
  if (cost > 1 || !shots.value.some(({ headers }) => headers[name] !== undefined)) return;
  session.claim({
    fact: ratesFact,
    reason: whatIsLeft,
    at: rate.at,
    of: [shots],
    judge: (all: readonly Shot[]): Judgement => {
      const end = all.at(-1);
      const before = all.at(-2);
      if (end?.status !== status || !before) return moot('it was not reached');
      const told = before.headers[name] ?? '';
      const left = own === undefined ? leftIn(told) : /^\d+$/.test(told) ? [Number(told)] : [];
      if (left.length < (own === undefined ? count : 1)) return moot('it does not speak of all rates');
      return Math.min(...left) >= 1
        ? {
            promised: `what ${own === undefined ? 'RateLimit' : name} says is left: ${told}`,
            seen: `the next was answered ${status}`,
          }
        : undefined;
    },
  });
}

/** The reason of a claim of what is told to be left. */
export const whatIsLeft = 'RateLimit';

/** How much is left of each rate that an answer speaks of. */
export function leftIn(told: string): number[] {
  return [...told.matchAll(/"[^"]*"[^,]*?;\s*r=(\d+)/g)].map(([, left]) => Number(left));
}

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

/** One request of many that are alike. */
export interface Shot {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The step that sends one request again and again, until one is answered with this status, or so many were sent. */
export function burst(
  plan: RequestPlan,
  most: number,
  untilStatus: number,
  after: readonly Done<unknown>[] = [],
): Step<readonly Shot[]> {
  return {
    says: `${plan.method} ${plan.template}${plan.caller === undefined ? '' : ` as ${plan.caller.name}`}, up to ${most} times`,
    takes: capturesIn(plan.path),
    needs: after.map(({ step }) => step),
    async act(run) {
      const shots: Shot[] = [];
      const { outgoing: first }: { readonly outgoing: Outgoing } = concrete(plan, run);
      while (shots.length < most) {
        const outgoing = (shots.length > 0 && first.again?.()) || first;
        const { status, headers, text, fromMs, toMs } = await run.client.send(outgoing, {
          takesRefusalsOfRates: true,
          ...(run.errand && { errand: run.errand }),
        });
        shots.push({ status, headers, text, fromMs: run.clock.toService(fromMs), toMs: run.clock.toService(toMs) });
        if (status === untilStatus || status === 0) break;
      }
      return shots;
    },
    tell: (shots) => `${shots.length} were answered, the last ${shots.at(-1)?.status ?? 'none'}`,
    shell: (names) => [
      `for n in $(seq ${most}); do`,
      ...curlOf(plan, names).map((line) => `  ${line} -o /dev/null -w '%{http_code}\\n'`),
      'done',
    ],
  };
}

export const ratesFact: FactName = { kind: 'rate limits', subject: 'service' };

/** A rate that was reached, and how. */
export interface ReachedRate {
  readonly rate: Rate;
  readonly counted: CountedOperation;
  readonly cost: number;
  /** The status of its refusals. */
  readonly status: number;
  readonly shots: Done<readonly Shot[]>;
}

/** The requests as the model of a rate reckons with them. */
export function attemptsOf(
  shots: readonly Shot[],
  { rate, status, cost }: Pick<ReachedRate, 'rate' | 'status' | 'cost'>,
): RateAttempt[] {
  return shots
    .filter((shot) => shot.status === status || !isUncounted(rate, shot.status))
    .map((shot) => ({ fromMs: shot.fromMs, toMs: shot.toMs, cost, isLet: shot.status !== status }));
}
