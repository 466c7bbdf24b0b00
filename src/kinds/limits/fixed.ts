import { allowed, type RateKind, refused } from './kind.ts';

const START = 0;
const USED = 1;

/** Windows one after the other: the first request opens one, and what is used in it is forgotten when it ends. */
export const fixed: RateKind = {
  word: 'fixed',
  meaning: 'windows one after the other, each opened by the first request after the last one',
  exactness: 'Never more than the limit in one window; around the end of one, up to twice the limit within its length.',
  numbersMax: 2,
  decide({ limit, windowMs }, use, nowMs, cost) {
    const { numbers } = use;
    const start = startOf(numbers, use.length, nowMs, windowMs);
    const used = start === undefined ? 0 : numbers[USED]!;
    const endMs = (start ?? nowMs) + windowMs - nowMs;
    const fits = used + cost <= limit;
    numbers[START] = start ?? nowMs;
    numbers[USED] = fits ? used + cost : used;
    use.length = numbers[USED] === 0 ? 0 : 2;
    if (fits) return allowed(limit - used - cost, endMs, used);
    return refused(Math.max(0, limit - used), endMs, cost > limit ? Number.POSITIVE_INFINITY : endMs, used);
  },
  giveBack({ windowMs }, use, nowMs, { atMs, cost }) {
    const { numbers } = use;
    const start = startOf(numbers, use.length, nowMs, windowMs);
    if (start === undefined || atMs < start) return;
    numbers[USED] = Math.max(0, numbers[USED]! - cost);
    if (numbers[USED] === 0) use.length = 0;
  },
  expiresMs: ({ windowMs }, { numbers }) => numbers[START]! + windowMs,
};

/** When the window that is open began; where the clock was set back, it begins anew. */
function startOf(numbers: Float64Array, length: number, nowMs: number, windowMs: number): number | undefined {
  if (length === 0) return undefined;
  const start = numbers[START]!;
  if (nowMs < start) return nowMs;
  return nowMs - start < windowMs ? start : undefined;
}
