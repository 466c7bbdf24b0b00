import { isUncounted, type Rate } from '../../../parts/limits.ts';
import type { FactName } from '../../exchange/facts.ts';
import type { Outgoing, RequestPlan } from '../../exchange/plan.ts';
import { curlOf } from '../../exchange/shell.ts';
import type { Done, Step } from '../../exchange/step.ts';
import { capturesIn } from '../../exchange/symbol.ts';
import { concrete } from '../../session/request.ts';
import type { CountedOperation, RateAttempt } from './counted.ts';

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
