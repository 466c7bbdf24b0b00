import { allowed, type RateKind, refused } from './kind.ts';

const AT = 0;
const DEBT = 1;

/**
 * A bucket that holds `burst` and is refilled at `limit` a window, evenly. What is missing is kept in parts so small that a
 * millisecond refills `limit` of them and a unit is `windowMs` of them: all of it is whole numbers, and nothing is rounded.
 */
export const bucket: RateKind = {
  word: 'bucket',
  meaning: 'a store of `burst` that is refilled at `limit` a window, evenly',
  exactness: 'Never more than the burst at once, and over any time never more than the burst and what was refilled in it.',
  numbersMax: 2,
  decide({ limit, windowMs, burst }, use, nowMs, cost) {
    const capacity = burst * windowMs;
    const debt = debtAt(use.numbers, use.length, nowMs, limit);
    const whole = debt + cost * windowMs;
    const fits = whole <= capacity;
    use.numbers[AT] = nowMs;
    use.numbers[DEBT] = fits ? whole : debt;
    use.length = use.numbers[DEBT] === 0 ? 0 : 2;
    const left = fits ? whole : debt;
    const remaining = Math.max(0, Math.floor((capacity - left) / windowMs));
    const moreMs = left === 0 ? windowMs : refillMs(left + (remaining + 1) * windowMs - capacity, limit);
    if (fits) return allowed(remaining, moreMs, debt);
    return refused(remaining, moreMs, cost > burst ? Number.POSITIVE_INFINITY : refillMs(whole - capacity, limit), debt);
  },
  giveBack({ limit, windowMs }, use, nowMs, { atMs, cost, before }) {
    const debt = debtAt(use.numbers, use.length, nowMs, limit);
    // Without the request the bucket would have been full from some time on, and would have refilled no further.
    const wasted = Math.max(0, (nowMs - atMs) * limit - before);
    use.numbers[AT] = nowMs;
    use.numbers[DEBT] = Math.max(0, debt - Math.max(0, cost * windowMs - wasted));
    use.length = use.numbers[DEBT] === 0 ? 0 : 2;
  },
  expiresMs: ({ limit }, { numbers }) => numbers[AT]! + refillMs(numbers[DEBT]!, limit),
};

function debtAt(numbers: Float64Array, length: number, nowMs: number, limit: number): number {
  if (length === 0) return 0;
  return Math.max(0, numbers[DEBT]! - Math.max(0, nowMs - numbers[AT]!) * limit);
}

function refillMs(parts: number, limit: number): number {
  return Math.ceil(parts / limit);
}
