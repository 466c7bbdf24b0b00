/** Rates, and what a caller may use up in a month. */
import { type Caller, type House, Refused } from './house.ts';

export interface Rates {
  /** Before anybody is known: the front page, by address. */
  first(operation: string, address: string): void;
  /** Once the caller is known: floor plans. */
  second(operation: string, caller: Caller): void;
}

const plansMax = 20;
const plansMs = 30_000;
const burst = 40;
const refillMs = 3000 / 30;

export function startRates({ clock, faults }: House): Rates {
  const windows = new Map<string, { readonly endsMs: number; used: number }>();
  const stores = new Map<string, { left: number; atMs: number }>();
  return {
    first(operation, address) {
      if (operation !== 'house' || faults.has('front-page-without-rate')) return;
      const nowMs = clock.now();
      const store = stores.get(address) ?? { left: burst, atMs: nowMs };
      const left = Math.min(burst, store.left + (nowMs - store.atMs) / refillMs);
      stores.set(address, { left, atMs: nowMs });
      if (left < 1) throw tooMany(Math.ceil(((1 - left) * refillMs) / 1000));
      stores.set(address, { left: left - 1, atMs: nowMs });
    },
    second(operation, { user, id }) {
      if (operation !== 'handler floor plan') return;
      const nowMs = clock.now();
      const who = `${user} ${id}`;
      const known = windows.get(who);
      const window = known && known.endsMs > nowMs ? known : { endsMs: nowMs + plansMs, used: 0 };
      windows.set(who, window);
      const most = faults.has('plans-fewer-than-stated') ? plansMax - 5 : plansMax;
      if (window.used >= most && !faults.has('plans-without-rate')) {
        const seconds = Math.ceil((window.endsMs - nowMs) / 1000);
        throw faults.has('wait-not-told')
          ? new Refused('TOO_MANY')
          : tooMany(faults.has('wait-in-milliseconds') ? seconds * 1000 : seconds);
      }
      window.used += 1;
    },
  };
}

function tooMany(seconds: number): Refused {
  return new Refused('TOO_MANY', [], { 'Retry-After': String(Math.max(1, seconds)) });
}

const keysMax = 50;

/** Uses one of the keys that a caller may make in a month, UTC. */
export type Quota = (caller: Caller) => void;

export function quotas({ clock, faults }: House): Quota {
  const used = new Map<string, number>();
  return ({ user, id }) => {
    const now = new Date(clock.now());
    const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const who = faults.has('quota-for-ever') ? `${user} ${id}` : `${month} ${user} ${id}`;
    const count = used.get(who) ?? 0;
    if (count >= (faults.has('quota-one-less') ? keysMax - 1 : keysMax)) {
      throw new Refused('QUOTA', [], { 'Retry-After': String(Math.ceil((next - now.getTime()) / 1000)) });
    }
    used.set(who, count + 1);
  };
}
