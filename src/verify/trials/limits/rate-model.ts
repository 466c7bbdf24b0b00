import { rateKind } from '../../../kinds/limits/all.ts';
import type { Rate } from '../../../parts/limits.ts';

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
  return String(Math.round(value * 1000) / 1000);
}
