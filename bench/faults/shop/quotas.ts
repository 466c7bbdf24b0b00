/** What callers may use up: requests in a while, cancellations in a day. */
import { Refusal } from './exchange.ts';
import type { Caller, Shop } from './shop.ts';

const cancellationsADay = 60;
const dayMs = 24 * 3_600_000;
const spent = new WeakMap<Shop, Map<string, number>>();

/** Uses one cancellation of the day, which ends at midnight, UTC. */
export function spend(shop: Shop, { id }: Caller): void {
  const { clock, faults } = shop;
  const nowMs = clock.now();
  const day = Math.floor(nowMs / dayMs);
  const counts = spent.get(shop) ?? new Map<string, number>();
  spent.set(shop, counts);
  const who = faults.has('quota-for-all') ? `${day}` : `${day} ${id}`;
  const used = counts.get(who) ?? 0;
  if (used >= cancellationsADay && !faults.has('quota-without-end')) {
    throw new Refusal('quota_used', [], { 'Retry-After': String(Math.ceil(((day + 1) * dayMs - nowMs) / 1000)) });
  }
  counts.set(who, used + 1);
}

/** A rate over a window that slides: the moments of what was asked for in it, by caller. */
export interface Rate {
  /** Counts a request, or refuses it. */
  count(caller: Caller): void;
}

const limit = 25;
const windowMs = 10_000;

export function startRate({ clock, faults }: Pick<Shop, 'clock' | 'faults'>): Rate {
  const asked = new Map<string, number[]>();
  const most = faults.has('one-more-in-the-window') ? limit + 1 : limit;
  return {
    count({ user, id }) {
      const nowMs = clock.now();
      const who = faults.has('rate-for-all-callers') ? '' : `${user} ${id}`;
      const moments = (asked.get(who) ?? []).filter((ms) => ms > nowMs - windowMs);
      if (moments.length >= most && !faults.has('rate-not-kept')) {
        const waitSeconds = Math.ceil((moments[moments.length - most]! + windowMs - nowMs) / 1000);
        const told = faults.has('retry-after-too-short') ? 1 : waitSeconds;
        throw new Refusal('slow_down', [], { 'Retry-After': String(told) });
      }
      asked.set(who, [...moments, nowMs]);
    },
  };
}
