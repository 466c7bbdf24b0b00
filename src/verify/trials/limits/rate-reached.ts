import { isUncounted, type Rate } from '../../../parts/limits.ts';
import type { FactName } from '../../exchange/facts.ts';
import type { Done } from '../../exchange/step.ts';
import type { Shot } from './burst.ts';
import type { CountedOperation } from './counted.ts';
import type { RateAttempt } from './rate-model.ts';

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
