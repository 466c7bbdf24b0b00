import { compareBy } from '../comparison.ts';
import { type RateKind, refusedDecision, type StatedRate } from './kind.ts';

const START = 0;
const USED = 1;

/** Windows one after the other: the first request opens one, and what is used in it is forgotten when it ends. */
export const fixed = {
  word: 'fixed',
  meaning: 'windows one after the other, each opened by the first request after the last one',
  exactness: 'Never more than the limit in one window; around the end of one, up to twice the limit within its length.',
  noun: 'fixed window',
  members: {},
  problems: () => [],
  capacity: ({ limit }) => limit,
  told: () => ({}),
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
    if (fits) return { isAllowed: true, remaining: limit - used - cost, moreMs: endMs, waitMs: 0, before: used };
    return refusedDecision(Math.max(0, limit - used), endMs, cost > limit ? Number.POSITIVE_INFINITY : endMs, used);
  },
  giveBack({ windowMs }, use, nowMs, { atMs, cost }) {
    const { numbers } = use;
    const start = startOf(numbers, use.length, nowMs, windowMs);
    if (start === undefined || atMs < start) return;
    numbers[USED] = Math.max(0, numbers[USED]! - cost);
    if (numbers[USED] === 0) use.length = 0;
  },
  expiresMs: ({ windowMs }, { numbers }) => numbers[START]! + windowMs,
  requestsToReach: (room) => room + 2 + Math.ceil(room / 50),
  /**
   * Around the end of a window it may be twice the limit. So near to an end is hardly ever what takes a fiftieth of a window,
   * and never the three times that a flaw is shown.
   */
  mostWithin({ limit, windowMs }, spreadMs) {
    if (spreadMs >= windowMs) return Number.POSITIVE_INFINITY;
    return spreadMs > windowMs / 50 ? 2 * limit : limit;
  },
  memoryMs: ({ windowMs }) => windowMs * (1 + 1 / 32),
  lua: `
local function startOf(use, now, window)
  if #use == 0 then return nil end
  if now < use[1] then return now end
  if now - use[1] < window then return use[1] end
  return nil
end
local function keep(use, start, used)
  if used == 0 then use[2], use[1] = nil, nil else use[1], use[2] = start, used end
end
return {
  decide = function(facts, use, now, cost)
    local start = startOf(use, now, facts.window)
    local used = start and use[2] or 0
    local ends = (start or now) + facts.window - now
    if used + cost <= facts.limit then
      keep(use, start or now, used + cost)
      return true, facts.limit - used - cost, ends, 0, used
    end
    keep(use, start or now, used)
    return false, math.max(0, facts.limit - used), ends, cost > facts.limit and math.huge or ends, used
  end,
  giveBack = function(facts, use, now, at, cost)
    local start = startOf(use, now, facts.window)
    if start == nil or at < start then return end
    keep(use, use[1], math.max(0, use[2] - cost))
  end
}`,
  compare: (before, after) => compareBy(before, after, isWithin),
} as const satisfies RateKind;

/** Windows of the same length open with the same requests; one of another length touches some of these in part, at both of its ends. */
function isWithin(inner: StatedRate, outer: StatedRate): boolean {
  const touched = inner.windowMs === outer.windowMs ? 1 : Math.ceil(outer.windowMs / inner.windowMs) + 1;
  return touched * inner.limit <= outer.limit;
}

/** When the window that is open began; where the clock was set back, it begins anew. */
function startOf(numbers: Float64Array, length: number, nowMs: number, windowMs: number): number | undefined {
  if (length === 0) return undefined;
  const start = numbers[START]!;
  if (nowMs < start) return nowMs;
  return nowMs - start < windowMs ? start : undefined;
}
