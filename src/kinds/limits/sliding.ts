import { compareBy } from '../comparison.ts';
import { type RateFacts, type RateKind, refusedDecision, type StatedRate, type Use } from './kind.ts';

/** How many moments are remembered apart. */
export const momentsMax = 64;

const slidingLua = `
local moments = ${momentsMax}
local function forget(use, first, count)
  for at = first, #use - count do use[at] = use[at + count] end
  for _ = 1, count do use[#use] = nil end
end
local function age(use, now, window)
  local gone = 0
  while gone < #use and use[gone + 1] + window <= now do gone = gone + 2 end
  if gone > 0 then forget(use, 1, gone) end
  local used = 0
  for at = 1, #use, 2 do
    if use[at] > now then use[at] = now end
    used = used + use[at + 1]
  end
  return used
end
local function add(facts, use, now, cost)
  local part = facts.limit <= moments and 1 or facts.window / moments
  local last = #use - 1
  if last >= 1 and math.floor(use[last] / part) == math.floor(now / part) then
    use[last], use[last + 1] = now, use[last + 1] + cost
  else
    use[last + 2] = now
    use[last + 3] = cost
  end
end
local function waitFor(facts, use, now, units)
  for at = 1, #use, 2 do
    units = units - use[at + 1]
    if units <= 0 then return use[at] + facts.window - now end
  end
  return math.huge
end
return {
  decide = function(facts, use, now, cost)
    local used = age(use, now, facts.window)
    local fits = used + cost <= facts.limit
    if fits and cost > 0 then add(facts, use, now, cost) end
    local more = #use == 0 and facts.window or use[1] + facts.window - now
    if fits then return true, facts.limit - used - cost, more, 0, used end
    return false, math.max(0, facts.limit - used), more, waitFor(facts, use, now, used + cost - facts.limit), used
  end,
  giveBack = function(facts, use, now, at, cost)
    age(use, now, facts.window)
    if at + facts.window <= now then return end
    for place = 1, #use, 2 do
      if use[place] >= at then
        use[place + 1] = math.max(0, use[place + 1] - cost)
        if use[place + 1] == 0 then forget(use, place, 2) end
        return
      end
    end
  end
}`;

/**
 * The window that ends now: a log of when how much was used, as pairs of a time and units, oldest first. Up to 64 units
 * are remembered to the millisecond each. Beyond that, those of one 64th of the window are remembered together, at the time of the
 * last of them, so that they are forgotten late rather than early.
 */
export const sliding = {
  word: 'sliding',
  meaning: 'whatever was used in the window that ends now',
  exactness: `Never more than the limit in any window. For limits up to ${momentsMax} a unit comes back when its window is over; above, at most one ${momentsMax}th of the window later.`,
  noun: 'sliding window',
  members: {},
  problems: () => [],
  capacity: ({ limit }) => limit,
  told: () => ({}),
  // A window touches one part more than it has; one is being added.
  numbersMax: 2 * (momentsMax + 2),
  decide(facts, use, nowMs, cost) {
    const { limit, windowMs } = facts;
    const { numbers } = use;
    const used = age(use, nowMs, windowMs);
    if (used + cost <= limit) {
      if (cost > 0) add(facts, use, nowMs, cost);
      const moreMs = use.length === 0 ? windowMs : numbers[0]! + windowMs - nowMs;
      return { isAllowed: true, remaining: limit - used - cost, moreMs, waitMs: 0, before: used };
    }
    const moreMs = use.length === 0 ? windowMs : numbers[0]! + windowMs - nowMs;
    return refusedDecision(Math.max(0, limit - used), moreMs, waitMs(facts, use, nowMs, used + cost - limit), used);
  },
  giveBack({ windowMs }, use, nowMs, { atMs, cost }) {
    age(use, nowMs, windowMs);
    // What has left the window by itself is not among those that came after it.
    if (atMs + windowMs <= nowMs) return;
    const { numbers } = use;
    for (let at = 0; at < use.length; at += 2) {
      if (numbers[at]! < atMs) continue;
      numbers[at + 1] = Math.max(0, numbers[at + 1]! - cost);
      if (numbers[at + 1] === 0) {
        numbers.copyWithin(at, at + 2, use.length);
        use.length -= 2;
      }
      return;
    }
  },
  expiresMs: ({ windowMs }, { numbers, length }) => numbers[length - 2]! + windowMs,
  requestsToReach: (room) => room + 2 + Math.ceil(room / 50),
  mostWithin: ({ limit, windowMs }, spreadMs) => (spreadMs >= windowMs ? Number.POSITIVE_INFINITY : limit),
  // Moments may be remembered a little together.
  memoryMs: ({ windowMs }) => windowMs * (1 + 1 / 32),
  lua: slidingLua,
  compare: (before, after) => compareBy(before, after, isWithin),
} as const satisfies RateKind;

/** A window is no more than so many of the other one after the other. */
function isWithin(inner: StatedRate, outer: StatedRate): boolean {
  return Math.ceil(outer.windowMs / inner.windowMs) * inner.limit <= outer.limit;
}

/** Forgets what has left the window; gives what is used in it. */
function age(use: Use, nowMs: number, windowMs: number): number {
  const { numbers } = use;
  let first = 0;
  while (first < use.length && numbers[first]! + windowMs <= nowMs) first += 2;
  if (first > 0) {
    numbers.copyWithin(0, first, use.length);
    use.length -= first;
  }
  let used = 0;
  for (let at = 0; at < use.length; at += 2) {
    // The clock was set back.
    if (numbers[at]! > nowMs) numbers[at] = nowMs;
    used += numbers[at + 1]!;
  }
  return used;
}

function add({ limit, windowMs }: RateFacts, use: Use, nowMs: number, cost: number): void {
  const { numbers } = use;
  const last = use.length - 2;
  const partMs = limit <= momentsMax ? 1 : windowMs / momentsMax;
  if (last >= 0 && Math.floor(numbers[last]! / partMs) === Math.floor(nowMs / partMs)) {
    numbers[last] = nowMs;
    numbers[last + 1] = numbers[last + 1]! + cost;
    return;
  }
  numbers[use.length] = nowMs;
  numbers[use.length + 1] = cost;
  use.length += 2;
}

/** How long until so many units have left the window. */
function waitMs({ windowMs }: RateFacts, { numbers, length }: Use, nowMs: number, units: number): number {
  let left = units;
  for (let at = 0; at < length; at += 2) {
    left -= numbers[at + 1]!;
    if (left <= 0) return numbers[at]! + windowMs - nowMs;
  }
  return Number.POSITIVE_INFINITY;
}
