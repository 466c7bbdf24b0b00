// Rates of requests: 900 in any minute for each caller, and of payments a bucket of 30 that is refilled in a minute.
import { Problem } from './problems.mjs';

const WINDOW = 60_000;
const MOST = 900;
const BUCKET = 30;

export class Rates {
  #times = new Map();
  #buckets = new Map();
  constructor(house) {
    this.house = house;
  }
  count(call) {
    const { clock, fault } = this.house;
    const now = clock.now();
    const who = call.caller ? `${call.caller.user} ${call.caller.id}` : `@${call.address}`;
    const times = (this.#times.get(who) ?? []).filter((at) => at > now - WINDOW);
    this.#times.set(who, times);
    const states = [{ limit: MOST, left: MOST - times.length, wait: () => (times[0] ?? now) + WINDOW - now }];
    let bucket;
    if (call.operation === 'create payment') {
      const place = fault === 'bucket-of-all' ? 'all' : fault === 'bucket-by-user' ? call.caller.user : who;
      const size = fault === 'bucket-of-40' ? 40 : BUCKET;
      bucket = this.#buckets.get(place) ?? { level: size, at: now };
      const level = fault === 'bucket-at-once' ? (now - bucket.at >= WINDOW ? size : bucket.level) : Math.min(size, bucket.level + ((now - bucket.at) * BUCKET) / WINDOW);
      bucket.level = level;
      if (fault !== 'bucket-at-once' || level === size) bucket.at = now;
      this.#buckets.set(place, bucket);
      states.push({ limit: size, left: Math.floor(level + 1e-9), wait: () => ((1 - (level - Math.floor(level + 1e-9))) * WINDOW) / BUCKET });
    }
    const told = (state, left, wait) => ({
      'X-RateLimit-Limit': String(state.limit),
      'X-RateLimit-Remaining': String(fault === 'remaining-off' ? left + 1 : left),
      'X-RateLimit-Reset': String(Math.max(1, Math.ceil(wait / 1000))),
    });
    const spent = states.filter(({ left }) => left < 1);
    if (spent.length > 0) {
      const seconds = Math.max(...spent.map(({ wait }) => Math.max(1, Math.ceil(wait() / 1000))));
      const headers = { ...(fault === 'no-retry-after' ? {} : { 'Retry-After': String(seconds) }), ...told(spent[0], 0, spent[0].wait()) };
      throw new Problem('slow_down', { headers });
    }
    times.push(now);
    if (bucket) bucket.level -= 1;
    const strictest = states.reduce((a, b) => (b.left < a.left ? b : a));
    return told(strictest, strictest.left - 1, bucket && strictest !== states[0] ? ((1 - (bucket.level - Math.floor(bucket.level + 1e-9))) * WINDOW) / BUCKET : times[0] + WINDOW - now);
  }
}
