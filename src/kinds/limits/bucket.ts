import { compareBy } from '../comparison.ts';
import { type RateKind, refusedDecision, type StatedRate } from './kind.ts';

const AT = 0;
const DEBT = 1;

/**
 * A bucket that holds `burst` and is refilled at `limit` a window, evenly. What is missing is kept in parts so small that a
 * millisecond refills `limit` of them and a unit is `windowMs` of them: all of it is whole numbers, and nothing is rounded.
 */
export const bucket = {
  word: 'bucket',
  meaning: 'a store of `burst` that is refilled at `limit` a window, evenly',
  exactness: 'Never more than the burst at once, and over any time never more than the burst and what was refilled in it.',
  noun: 'bucket',
  members: { burst: { form: { type: 'number', minimum: 0, description: 'The capacity of a bucket.' } } },
  problems: ({ own }) =>
    own.burst === 0
      ? [{ code: 'limits/of-nothing', message: 'A bucket that holds nothing lets nothing through.', at: ['burst'] }]
      : [],
  capacity,
  told: ({ own: { burst } }) => (typeof burst === 'number' ? { burst: Math.floor(burst) } : {}),
  numbersMax: 2,
  decide({ limit, windowMs, capacity: most }, use, nowMs, cost) {
    const whole = most * windowMs;
    const debt = debtAt(use.numbers, use.length, nowMs, limit);
    const taken = debt + cost * windowMs;
    const fits = taken <= whole;
    use.numbers[AT] = nowMs;
    use.numbers[DEBT] = fits ? taken : debt;
    use.length = use.numbers[DEBT] === 0 ? 0 : 2;
    const left = fits ? taken : debt;
    const remaining = Math.max(0, Math.floor((whole - left) / windowMs));
    const moreMs = left === 0 ? windowMs : refillMs(left + (remaining + 1) * windowMs - whole, limit);
    if (fits) return { isAllowed: true, remaining, moreMs, waitMs: 0, before: debt };
    return refusedDecision(remaining, moreMs, cost > most ? Number.POSITIVE_INFINITY : refillMs(taken - whole, limit), debt);
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
  // It is refilled while it is emptied.
  requestsToReach: (room) => 2 * room + 2,
  mostWithin: (stated, spreadMs) => capacity(stated) + perMs(stated) * spreadMs,
  // It may be refilled step by step.
  memoryMs: (stated) => capacity(stated) / perMs(stated) + stated.windowMs,
  lua: `
local function debtAt(use, now, limit)
  if #use == 0 then return 0 end
  return math.max(0, use[2] - math.max(0, now - use[1]) * limit)
end
local function keep(use, now, debt)
  if debt == 0 then use[2], use[1] = nil, nil else use[1], use[2] = now, debt end
end
return {
  decide = function(facts, use, now, cost)
    local window, limit = facts.window, facts.limit
    local whole = facts.capacity * window
    local debt = debtAt(use, now, limit)
    local taken = debt + cost * window
    local fits = taken <= whole
    local left = fits and taken or debt
    keep(use, now, left)
    local remaining = math.max(0, math.floor((whole - left) / window))
    local more = window
    if left ~= 0 then more = math.ceil((left + (remaining + 1) * window - whole) / limit) end
    if fits then return true, remaining, more, 0, debt end
    return false, remaining, more, cost > facts.capacity and math.huge or math.ceil((taken - whole) / limit), debt
  end,
  giveBack = function(facts, use, now, at, cost, before)
    local debt = debtAt(use, now, facts.limit)
    local wasted = math.max(0, (now - at) * facts.limit - before)
    keep(use, now, math.max(0, debt - math.max(0, cost * facts.window - wasted)))
  end
}`,
  compare: (before, after) =>
    compareBy(before, after, (inner, outer) => capacity(inner) <= capacity(outer) && perMs(inner) <= perMs(outer)),
} as const satisfies RateKind;

function capacity({ limit, own: { burst } }: StatedRate): number {
  return typeof burst === 'number' ? burst : limit;
}

function perMs({ limit, windowMs }: StatedRate): number {
  return limit / windowMs;
}

function debtAt(numbers: Float64Array, length: number, nowMs: number, limit: number): number {
  if (length === 0) return 0;
  return Math.max(0, numbers[DEBT]! - Math.max(0, nowMs - numbers[AT]!) * limit);
}

function refillMs(parts: number, limit: number): number {
  return Math.ceil(parts / limit);
}
